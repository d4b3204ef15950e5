#include "store/redis/scripts.h"

#include <array>
#include <string_view>

namespace parley::store {
namespace {

// `whole` because Lua writes large numbers as 1e+15.
constexpr std::string_view kCommon = R"lua(
local call = redis.call
local function now_ms()
  local time = call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end
local function whole(number) return string.format('%.0f', number) end
local function is_place(known) return known and known:sub(1, 1) ~= '!' end
local function is_over(expires) return expires and now_ms() >= tonumber(expires) end
-- The answer to a caller that a lease shuts out. If a clock was ahead when the lease was taken, it lasts no
-- longer than it was asked for (lease_owner.h).
local function leased(head_key, token, owner, until_ms, now)
  local length = tonumber((owner or ''):match('\31(%d+)') or 0)
  if length > 0 and tonumber(until_ms) - now > length then
    until_ms = whole(now + length)
    call('HSET', head_key, 'until', until_ms)
  end
  return {'lease', token, owner, until_ms, now}
end
)lua";

struct Text {
  Script script;
  std::string_view text;
};

constexpr std::array<Text, kScriptCount> kTexts = {{
    // The checks come first and in the order of rules.h. Records are added after their media, and
    // everything else after the records: the first XADD is the first command that could be refused, and it is
    // refused if the
    // stream does not end where the head says.
    {Script::Append, R"lua(
-- KEYS head log batches media checkpoint
-- ARGV batch hash epoch expected lease new_id created updated title titled titles rows media
--      take_owner take_time release (m b t n)* (hash bytes)*
local head = call('HMGET', KEYS[1], 'id', 'base', 'size', 'expires', 'token', 'owner', 'until', 'title',
  'largest')
if is_over(head[4]) then return {'expired', head[1]} end
local known = call('HGET', KEYS[3], ARGV[1])
if is_place(known) then return head[1] and {'known', known} or {'damaged'} end
if known and known:sub(2) ~= ARGV[3] then return {'refused', known:sub(2)} end
local size = tonumber(head[3] or 0)
if size ~= tonumber(head[2] or 0) + call('XLEN', KEYS[2]) then return {'damaged'} end
if ARGV[4] ~= '' and ARGV[4] ~= whole(size) then return {'size', size} end
local now = now_ms()
local is_held = head[5] and now < tonumber(head[7])
if (is_held and head[5] ~= ARGV[5]) or (not is_held and ARGV[5] ~= '') then
  return leased(KEYS[1], head[5], head[6], head[7], now)
end
local rows, media = tonumber(ARGV[12]), tonumber(ARGV[13])
local at, largest = 17, tonumber(head[9] or 0)
for i = at + rows * 4, at + rows * 4 + media * 2 - 1, 2 do call('HSETNX', KEYS[4], ARGV[i], ARGV[i + 1]) end
for i = 1, rows do
  call('XADD', KEYS[2], whole(size + i) .. '-0',
    'm', ARGV[at], 'b', ARGV[at + 1], 't', ARGV[at + 2], 'n', ARGV[at + 3])
  largest = math.max(largest, #ARGV[at] + #ARGV[at + 1] + #ARGV[at + 2])
  at = at + 4
end
if not head[1] then
  call('HSET', KEYS[1], 'id', ARGV[6], 'base', '0', 'created', ARGV[7])
  call('PERSIST', KEYS[3])
end
call('HSET', KEYS[1], 'size', whole(size + rows), 'updated', ARGV[8], 'largest', whole(largest))
local titled = size + tonumber(ARGV[10])
if not head[8] and ARGV[9] ~= '' and titled < tonumber(ARGV[11]) then
  call('HSET', KEYS[1], 'title', ARGV[9], 'titled', whole(titled))
end
if ARGV[14] ~= '' then
  call('HSET', KEYS[1], 'token', ARGV[1], 'owner', ARGV[14], 'until', whole(now + tonumber(ARGV[15])))
elseif ARGV[16] ~= '' then
  call('HDEL', KEYS[1], 'token', 'owner', 'until')
  call('UNLINK', KEYS[5])
end
call('HSET', KEYS[3], ARGV[1], whole(size) .. ':' .. ARGV[12] .. ':' .. ARGV[2])
return {'ok', size}
)lua"},

    // A batch that is not there gets an epoch. An append that does not know the epoch is refused: so the
    // command of a connection that broke, which the server may still have, is refused; and an append
    // that is retried learns the epoch and succeeds (P10).
    {Script::Resolve, R"lua(
-- KEYS head batches
-- ARGV batch epoch time; an empty epoch: only looks
local head = call('HMGET', KEYS[1], 'id', 'expires')
if is_over(head[2]) then return {'expired', head[1]} end
local known = call('HGET', KEYS[2], ARGV[1])
if is_place(known) then return head[1] and {'known', known} or {'damaged'} end
if ARGV[2] == '' then return {'none'} end
call('HSET', KEYS[2], ARGV[1], '!' .. ARGV[2])
if not head[1] then call('PEXPIRE', KEYS[2], ARGV[3]) end
return {'none'}
)lua"},

    // With an id, only that session, and even if it has expired: a fork may share its records. A record that
    // is missing is returned as empty fields, which cannot be parsed: the reader names it (P6). Records are
    // read from the stream in groups of at most a chunk, however large the records are.
    {Script::Read, R"lua(
-- KEYS head log
-- ARGV id first count bytes chunk with_bodies
local head = call('HMGET', KEYS[1],
  'id', 'base', 'size', 'created', 'updated', 'expires', 'title', 'titled', 'parts', 'largest')
if not head[1] or (ARGV[1] ~= '' and ARGV[1] ~= head[1]) then return {'none'} end
if ARGV[1] == '' and is_over(head[6]) then return {'expired', head[1]} end
local out = {'ok', unpack(head, 1, 9)}
local first, left, chunk = tonumber(ARGV[2]), tonumber(ARGV[4]), tonumber(ARGV[5])
if first < tonumber(head[2]) then return out end
local last = math.min(tonumber(head[3]), first + tonumber(ARGV[3])) - 1
local group = math.min(256, math.max(1, math.floor(chunk / math.max(1, tonumber(head[10] or 0)))))
local entries, at
for position = first, last do
  local id = whole(position + 1) .. '-0'
  if (position - first) % group == 0 then
    entries = call('XRANGE', KEYS[2], id, whole(math.min(position + group, last + 1)) .. '-0')
    at = 1
  end
  local field = {}
  if entries[at] and entries[at][1] == id then field, at = entries[at][2], at + 1 end
  local m, b, t = field[2] or '', field[4] or '', field[6] or ''
  if ARGV[6] == '' then b = '' end
  local bytes = tonumber(field[8] or 0) or 0
  if position > first and (bytes > left or #m + #b + #t > chunk) then break end
  left, chunk = left - bytes, chunk - #m - #b - #t
  local n = #out
  out[n + 1], out[n + 2], out[n + 3] = m, b, t
end
return out
)lua"},

    {Script::Mark, R"lua(
-- KEYS marks
-- ARGV session or lease
call('ZADD', KEYS[1], whole(now_ms()), ARGV[1])
return {'ok'}
)lua"},

    {Script::Unmark, R"lua(
-- KEYS marks
-- ARGV session or lease, time
local marked = call('ZSCORE', KEYS[1], ARGV[1])
if marked and tonumber(marked) <= tonumber(ARGV[2]) then call('ZREM', KEYS[1], ARGV[1]) end
return {'ok'}
)lua"},

    // "late": what it shares is held no longer than that.
    {Script::Create, R"lua(
-- KEYS head batches
-- ARGV id base updated title titled parts until
local head = call('HMGET', KEYS[1], 'id', 'expires')
if is_over(head[2]) then return {'expired', head[1]} end
if head[1] then return {'exists'} end
local now = now_ms()
if now >= tonumber(ARGV[7]) then return {'late'} end
local created = whole(now)
call('HSET', KEYS[1], 'id', ARGV[1], 'base', ARGV[2], 'size', ARGV[2], 'created', created,
  'updated', ARGV[3] ~= '' and ARGV[3] or created, 'parts', ARGV[6])
if ARGV[4] ~= '' then call('HSET', KEYS[1], 'title', ARGV[4], 'titled', ARGV[5]) end
call('PERSIST', KEYS[2])
return {'ok'}
)lua"},

    {Script::Lease, R"lua(
-- KEYS head batches
-- ARGV new_id token owner time takes_over
local head = call('HMGET', KEYS[1], 'id', 'expires', 'token', 'owner', 'until')
if is_over(head[2]) then return {'expired', head[1]} end
local now = now_ms()
if head[3] and now < tonumber(head[5]) and head[3] ~= ARGV[2] and ARGV[5] == '' then
  return leased(KEYS[1], head[3], head[4], head[5], now)
end
if not head[1] then
  call('HSET', KEYS[1], 'id', ARGV[1], 'base', '0', 'size', '0', 'created', whole(now), 'updated', whole(now))
  call('PERSIST', KEYS[2])
end
local until_ms = now + tonumber(ARGV[4])
call('HSET', KEYS[1], 'token', ARGV[2], 'owner', ARGV[3], 'until', whole(until_ms))
return {'ok', until_ms}
)lua"},

    {Script::Checkpoint, R"lua(
-- KEYS head checkpoint
-- ARGV token owner time bytes
local head = call('HMGET', KEYS[1], 'expires', 'token', 'owner', 'until')
if is_over(head[1]) or not head[2] then return {'none'} end
local now = now_ms()
if head[2] ~= ARGV[1] or now >= tonumber(head[4]) then
  return leased(KEYS[1], head[2], head[3], head[4], now)
end
local until_ms = now + tonumber(ARGV[3])
call('HSET', KEYS[1], 'owner', ARGV[2], 'until', whole(until_ms))
call('SET', KEYS[2], ARGV[4])
return {'ok', until_ms}
)lua"},

    {Script::Holder, R"lua(
-- KEYS head checkpoint
local head = call('HMGET', KEYS[1], 'expires', 'token', 'owner', 'until')
if is_over(head[1]) or not head[2] then return {'none'} end
return {'lease', head[2], head[3], head[4], now_ms(), call('GET', KEYS[2])}
)lua"},

    {Script::EndLease, R"lua(
-- KEYS head
-- ARGV token
if call('HGET', KEYS[1], 'token') == ARGV[1] then call('HSET', KEYS[1], 'until', whole(now_ms())) end
return {'ok'}
)lua"},

    {Script::Release, R"lua(
-- KEYS head checkpoint
-- ARGV token
if call('HGET', KEYS[1], 'token') == ARGV[1] then
  call('HDEL', KEYS[1], 'token', 'owner', 'until')
  call('UNLINK', KEYS[2])
end
return {'ok'}
)lua"},

    {Script::Expire, R"lua(
-- KEYS head
-- ARGV at
local head = call('HMGET', KEYS[1], 'id', 'expires')
if not head[1] then return {'none'} end
if is_over(head[2]) then return {'expired', head[1]} end
if ARGV[1] == '' then call('HDEL', KEYS[1], 'expires') else call('HSET', KEYS[1], 'expires', ARGV[1]) end
return {'ok'}
)lua"},

    {Script::Drop, R"lua(
-- KEYS head log batches media forks kept_head kept_log kept_media kept_forks checkpoint
-- ARGV id
if call('HGET', KEYS[1], 'id') ~= ARGV[1] then return {'none'} end
call('UNLINK', KEYS[3], KEYS[10])
if call('EXISTS', KEYS[5]) == 0 then
  call('UNLINK', KEYS[1], KEYS[2], KEYS[4])
  return {'ok'}
end
for from, to in pairs({[1] = 6, [2] = 7, [4] = 8, [5] = 9}) do
  if call('EXISTS', KEYS[from]) == 1 then call('RENAME', KEYS[from], KEYS[to]) end
end
return {'ok'}
)lua"},

    {Script::AddFork, R"lua(
-- KEYS head forks kept_head kept_forks
-- ARGV id fork time
local until_ms = now_ms() + tonumber(ARGV[3])
if call('HGET', KEYS[1], 'id') == ARGV[1] then
  call('HSET', KEYS[2], ARGV[2], whole(until_ms))
elseif call('EXISTS', KEYS[3]) == 1 then
  call('HSET', KEYS[4], ARGV[2], whole(until_ms))
else
  return {'none'}
end
return {'ok', until_ms}
)lua"},

    {Script::RemoveFork, R"lua(
-- KEYS head forks kept_head kept_log kept_media kept_forks
-- ARGV id fork
if call('HGET', KEYS[1], 'id') == ARGV[1] then
  call('HDEL', KEYS[2], ARGV[2])
else
  call('HDEL', KEYS[6], ARGV[2])
  if call('EXISTS', KEYS[6]) == 0 then call('UNLINK', KEYS[3], KEYS[4], KEYS[5]) end
end
return {'ok'}
)lua"},
}};

}  // namespace

std::string script_text(Script script) {
  for (const Text& text : kTexts) {
    if (text.script == script) return std::string(kCommon).append(text.text);
  }
  return {};
}

}  // namespace parley::store
