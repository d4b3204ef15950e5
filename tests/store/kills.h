// Clients of a store that are killed with SIGKILL while they work, and the judge of what all clients saw
// (history.h): nothing that was acknowledged is lost, and nothing is torn, doubled or out of order.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "workload.h"

namespace parley::store {

// How often: many times more if PARLEY_SOAK is set (`./dev soak`).
std::size_t kill_count(std::size_t in_gate, std::size_t in_soak);

// Runs one worker as a process, kills it when it has told `most` bytes, and gives what it told. Fails the
// test if the worker ended by itself.
std::string run_and_kill(const std::string& uri, const Workload& workload, std::size_t index,
                         std::size_t most);

// What all workers told must fit together with what a last reader finds.
void expect_sound(const std::string& uri, const Workload& workload, std::vector<std::string> told);

// Kills `count` clients, a few at a time, on sessions of `tenant`, and judges.
void kill_clients(const std::string& uri, const std::string& tenant, std::size_t count);

}  // namespace parley::store
