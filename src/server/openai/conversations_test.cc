#include "server/openai/conversations.h"

#include <gtest/gtest.h>

#include "parley/json/writer.h"
#include "server/http/server_testing.h"

namespace parley::server {
namespace {

using testing::Got;
using testing::TestServer;

class Conversations : public ::testing::Test {
 protected:
  std::string create(const std::string& body = "{}") {
    const Got got = server_.post("/v1/conversations", body);
    EXPECT_EQ(got.status, 200) << got.text;
    return got.at("/id");
  }
  static std::string items_path(const std::string& id) { return "/v1/conversations/" + id + "/items"; }
  static std::string user_item(const std::string& text) {
    return R"({"type":"message","role":"user","content":[{"type":"input_text","text":")" + text + R"("}]})";
  }
  // The texts of a page of items, joined.
  static std::string texts(const Got& page) {
    std::string out;
    for (const Json& item : page.body.get("data").value_or(Json()).elements()) {
      out += item.at("/content/0/text").value_or(Json()).as_string().value_or(Text("-")).str() + " ";
    }
    return out;
  }
  TurnState ask(const std::string& session, const std::string& text) {
    return ask(session, text, [&](testing::ManualCall& call) {
      call.say("answer to " + text);
      call.finish();
    });
  }
  // The same, while `drive` plays the model.
  TurnState ask(const std::string& session, const std::string& text,
                const std::function<void(testing::ManualCall& call)>& drive) {
    TurnRequest request;
    request.key.session.session = session;
    request.shape = "test";
    request.request = Json::parse("{}").value();
    request.input = {Message::user_message(text)};
    request.model = "test/manual";
    const std::size_t number = server_.model().calls();
    const auto loop = net::EventLoop::start().value();
    const auto turn =
        server_.engine().begin(std::move(request), *loop, std::make_shared<testing::Listener>());
    drive(*server_.model().call(number));
    return turn->wait().value();
  }

  std::shared_ptr<store::Store> store_ = testing::memory_store();
  TestServer server_{{.store = store_, .routes = conversation_routes()}};
};

TEST_F(Conversations, AreCreatedEmpty) {
  for (const char* body : {"", "{}", R"({"items":[]})", R"({"items":null,"metadata":null})"}) {
    const Got got = server_.post("/v1/conversations", body);
    ASSERT_EQ(got.status, 200) << body << got.text;
    EXPECT_TRUE(got.at("/id").starts_with("conv_0"));
    EXPECT_EQ(got.at("/object"), "conversation");
    EXPECT_GT(got.body.at("/created_at")->as_int64(), 1'700'000'000);
    EXPECT_EQ(got.at("/metadata"), "{}");
    EXPECT_EQ(server_.get("/v1/conversations/" + got.at("/id")).text, got.text);
    const Got items = server_.get(items_path(got.at("/id")));
    EXPECT_EQ(items.text, R"({"object":"list","data":[],"first_id":"","last_id":"","has_more":false})");
  }
}

TEST_F(Conversations, KeepItemsAndMetadata) {
  const std::string id =
      create(R"({"metadata":{"topic":"x"},"items":[)" + user_item("one") + "," +
             R"({"role":"assistant","content":"two","type":"message","phase":"commentary"}]})");
  EXPECT_EQ(server_.get("/v1/conversations/" + id).at("/metadata/topic"), "x");
  const Got items = server_.get(items_path(id) + "?order=asc");
  EXPECT_EQ(texts(items), "one two ");
  EXPECT_EQ(items.at("/data/0/role"), "user");
  EXPECT_EQ(items.at("/data/0/status"), "completed");
  EXPECT_EQ(items.at("/data/1/content/0/type"), "output_text");
  EXPECT_EQ(items.at("/data/1/phase"), "commentary");
  EXPECT_EQ(items.at("/first_id"), items.at("/data/0/id"));
  EXPECT_EQ(items.at("/last_id"), items.at("/data/1/id"));
}

TEST_F(Conversations, ReplaceTheirMetadata) {
  const std::string id = create(R"({"metadata":{"a":"1","b":"2"}})");
  const std::string path = "/v1/conversations/" + id;
  EXPECT_EQ(server_.post(path, R"({"metadata":{"c":"3"}})").at("/metadata"), R"({"c":"3"})");
  EXPECT_EQ(server_.get(path).at("/metadata"), R"({"c":"3"})");
  EXPECT_EQ(server_.post(path, "{}").at("/metadata"), R"({"c":"3"})");
  EXPECT_EQ(server_.post(path, R"({"metadata":null})").at("/metadata"), "{}");
}

TEST_F(Conversations, LimitTheirMetadata) {
  const auto status = [&](const std::string& metadata) {
    return server_.post("/v1/conversations", R"({"metadata":)" + metadata + "}").status;
  };
  const auto pairs = [](int count) {
    json::Writer w;
    w.begin_object();
    for (int i = 0; i < count; ++i) w.key(std::to_string(i)).string("v");
    return w.end_object().take_string();
  };
  EXPECT_EQ(status(pairs(16)), 200);
  EXPECT_EQ(status(pairs(17)), 400);
  EXPECT_EQ(status("{\"" + std::string(64, 'k') + "\":\"v\"}"), 200);
  EXPECT_EQ(status("{\"" + std::string(65, 'k') + "\":\"v\"}"), 400);
  EXPECT_EQ(status("{\"k\":\"" + std::string(512, 'v') + "\"}"), 200);
  EXPECT_EQ(status("{\"k\":\"" + std::string(513, 'v') + "\"}"), 400);
  EXPECT_EQ(status("{\"k\":1}"), 400);
  EXPECT_EQ(status("[]"), 400);
  EXPECT_EQ(server_.post("/v1/conversations", R"({"metadata":{"k":1}})").at("/error/param"), "metadata.k");
}

TEST_F(Conversations, AreErased) {
  const std::string id = create(R"({"items":[)" + user_item("secret") + "]}");
  const Got deleted = server_.remove("/v1/conversations/" + id);
  EXPECT_EQ(deleted.text, R"({"id":")" + id + R"(","object":"conversation.deleted","deleted":true})");
  for (const Got& got :
       {server_.get("/v1/conversations/" + id), server_.remove("/v1/conversations/" + id),
        server_.get(items_path(id)), server_.get(items_path(id) + "/msg_1"),
        server_.post("/v1/conversations/" + id, "{}"), server_.post(items_path(id), R"({"items":[]})")}) {
    EXPECT_EQ(got.status, 404) << got.text;
    EXPECT_EQ(got.at("/error/code"), "conversation_not_found");
  }
  EXPECT_TRUE(server_.store().search("default", "secret").value().empty());
}

TEST_F(Conversations, AreNotErasedWhileATurnRuns) {
  const std::string id = create();
  TurnRequest request;
  request.key.session.session = id;
  request.request = Json::parse("{}").value();
  request.input = {Message::user_message("hi")};
  request.model = "test/manual";
  const auto loop = net::EventLoop::start().value();
  const auto turn = server_.engine().begin(std::move(request), *loop, std::make_shared<testing::Listener>());
  const auto call = server_.model().call(0);
  const Got busy = server_.remove("/v1/conversations/" + id);
  EXPECT_EQ(busy.status, 409);
  EXPECT_EQ(busy.at("/error/code"), "conversation_locked");
  EXPECT_EQ(busy.header("Retry-After"), "1");
  call->finish();
  ASSERT_TRUE(turn->wait());
  EXPECT_EQ(server_.remove("/v1/conversations/" + id).status, 200);
}

TEST_F(Conversations, AddItems) {
  const std::string id = create();
  const Got added = server_.post(
      items_path(id) + "?include[]=reasoning.encrypted_content",
      R"({"items":[{"id":"msg_mine","type":"message","role":"user","content":"a"},)" + user_item("b") +
          R"(,{"type":"function_call","call_id":"c1","name":"f","arguments":"{}"},)"
          R"({"type":"function_call_output","call_id":"c1","output":"42"}]})");
  ASSERT_EQ(added.status, 200) << added.text;
  EXPECT_EQ(added.at("/data/0/id"), "msg_mine");
  EXPECT_TRUE(added.at("/data/1/id").starts_with("msg_0"));
  EXPECT_TRUE(added.at("/data/2/id").starts_with("fc_0"));
  EXPECT_TRUE(added.at("/data/3/id").starts_with("fco_0"));
  EXPECT_EQ(added.at("/has_more"), "false");
  const Got listed = server_.get(items_path(id) + "?order=asc");
  EXPECT_EQ(listed.at("/data"), added.at("/data"));
  for (const Json& item : added.body.get("data")->elements()) {
    const std::string item_id = item.get("id")->as_string()->str();
    EXPECT_EQ(server_.get(items_path(id) + "/" + item_id).body, item);
  }
  // An id that is taken is not used again.
  const Got again =
      server_.post(items_path(id), R"({"items":[{"id":"msg_mine","role":"user","content":"c"}]})");
  EXPECT_NE(again.at("/data/0/id"), "msg_mine");
}

TEST_F(Conversations, TakeACallAndItsOutputInTwoRequests) {
  const std::string id = create(R"({"items":[)" + user_item("a") + "]}");
  const auto add = [&](const std::string& item) {
    return server_.post(items_path(id), R"({"items":[)" + item + "]}").status;
  };
  EXPECT_EQ(add(R"({"type":"function_call","call_id":"c","name":"f","arguments":"{}"})"), 200);
  EXPECT_EQ(add(R"({"type":"function_call_output","call_id":"c","output":"x"})"), 200);
  EXPECT_EQ(add(R"({"type":"reasoning","summary":[],"encrypted_content":"abc"})"), 200);
  EXPECT_EQ(add(R"({"type":"message","role":"assistant","content":"done"})"), 200);
  EXPECT_EQ(server_.get(items_path(id) + "?order=asc").at("/data/3/encrypted_content"), "abc");
}

TEST_F(Conversations, RefuseItemsThatCannotBe) {
  const std::string id = create();
  const auto param = [&](const std::string& body) {
    const Got got = server_.post(items_path(id), body);
    EXPECT_EQ(got.status, 400) << got.text;
    return got.at("/error/param");
  };
  EXPECT_EQ(param("{}"), "items");
  EXPECT_EQ(param(R"({"items":{}})"), "items");
  EXPECT_EQ(param(R"({"items":[1]})"), "items[0]");
  EXPECT_EQ(param(R"({"items":[{"role":"user","content":"x"},{"role":"robot","content":"x"}]})"),
            "items[1].role");
  EXPECT_EQ(param(R"({"items":[{"type":"item_reference","id":"msg_1"}]})"), "items[0]");
  EXPECT_EQ(param(R"({"items":[{"type":"function_call_output","call_id":"no","output":"x"}]})"), "null");
  EXPECT_EQ(param("[]"), "null");
  EXPECT_EQ(param("{"), "null");
  std::string many;
  for (int i = 0; i < 100; ++i) many += (i == 0 ? "" : ",") + user_item("x");
  EXPECT_EQ(param(R"({"items":[)" + many + "," + user_item("x") + "]}"), "items");
  EXPECT_EQ(server_.post(items_path(id), R"({"items":[)" + many + "]}").status, 200);
  // Nothing of a refused request is kept.
  EXPECT_EQ(server_
                .post("/v1/conversations",
                      R"({"items":[{"type":"function_call_output","call_id":"no","output":"x"}]})")
                .status,
            400);
  EXPECT_EQ(server_.get("/v1/conversations").body.get("data")->elements().size(), 1);
}

TEST_F(Conversations, ListTheirItemsInPages) {
  std::string items;
  for (int i = 0; i < 45; ++i) items += (i == 0 ? "" : ",") + user_item(std::to_string(i));
  const std::string id = create(R"({"items":[)" + items + "]}");
  const Got first = server_.get(items_path(id));
  EXPECT_EQ(first.body.get("data")->elements().size(), 20);
  EXPECT_TRUE(texts(first).starts_with("44 43 "));
  EXPECT_EQ(first.at("/has_more"), "true");
  const Got second = server_.get(items_path(id) + "?after=" + first.at("/last_id"));
  EXPECT_TRUE(texts(second).starts_with("24 23 "));
  const Got third = server_.get(items_path(id) + "?after=" + second.at("/last_id"));
  EXPECT_EQ(texts(third), "4 3 2 1 0 ");
  EXPECT_EQ(third.at("/has_more"), "false");
  EXPECT_EQ(texts(server_.get(items_path(id) + "?after=" + third.at("/last_id"))), "");

  const Got ascending = server_.get(items_path(id) + "?order=asc&limit=3");
  EXPECT_EQ(texts(ascending), "0 1 2 ");
  EXPECT_EQ(texts(server_.get(items_path(id) + "?order=asc&limit=3&after=" + ascending.at("/last_id"))),
            "3 4 5 ");
  EXPECT_EQ(server_.get(items_path(id) + "?limit=100").at("/has_more"), "false");

  for (const char* query : {"limit=101", "limit=x", "limit=", "order=up", "after=msg_no"}) {
    EXPECT_EQ(server_.get(items_path(id) + "?" + query).status, 400) << query;
  }
}

TEST_F(Conversations, ShowTurnsAsItems) {
  const std::string id = create();
  const TurnState turn = ask(id, "hello");
  const Got items = server_.get(items_path(id) + "?order=asc");
  EXPECT_EQ(texts(items), "hello answer to hello ");
  EXPECT_EQ(items.at("/data/1/id"), "msg_" + turn.key.id + ".0_" + id);
  EXPECT_EQ(server_.get(items_path(id) + "/" + items.at("/data/1/id")).at("/content/0/text"),
            "answer to hello");
  EXPECT_EQ(server_.get(items_path(id) + "/msg_no").at("/error/code"), "item_not_found");
}

TEST_F(Conversations, HideAnItemWithItsExchange) {
  const std::string id =
      create(R"({"items":[)" + user_item("a") +
             R"(,{"id":"fc_1","type":"function_call","call_id":"c","name":"f","arguments":""},)"
             R"({"id":"fco_1","type":"function_call_output","call_id":"c","output":"x"},)" +
             user_item("b") + "]}");
  const Got left = server_.remove(items_path(id) + "/fco_1");
  EXPECT_EQ(left.at("/object"), "conversation") << left.text;
  EXPECT_EQ(texts(server_.get(items_path(id) + "?order=asc")), "a b ");
  EXPECT_EQ(server_.get(items_path(id) + "/fc_1").status, 404);
  EXPECT_EQ(server_.remove(items_path(id) + "/fco_1").status, 404);
  const TurnState turn = ask(id, "c");
  EXPECT_EQ(server_.model().call(0)->request.conversation.messages().size(), 3);
}

TEST_F(Conversations, DoNotHideOtherItemsOfAnAnswerSilently) {
  const std::string id = create();
  ask(id, "hello", [](testing::ManualCall& call) {
    call.say("Let me look.");
    call.call_tool("c1", "f", "{}");
    call.finish(Finish::ToolCalls);
  });
  const Got output = server_.post(
      items_path(id), R"({"items":[{"type":"function_call_output","call_id":"c1","output":"x"}]})");
  ASSERT_EQ(output.status, 200) << output.text;
  const Got all = server_.get(items_path(id) + "?order=asc");
  ASSERT_EQ(all.body.get("data")->elements().size(), 4U) << all.text;
  const Got text = server_.remove(items_path(id) + "/" + all.at("/data/1/id"));
  EXPECT_EQ(text.status, 400) << text.text;
  EXPECT_EQ(text.at("/error/code"), "item_is_part_of_answer");
  for (const char* other : {"/data/2/id", "/data/3/id"})
    EXPECT_NE(text.at("/error/message").find(all.at(other)), std::string::npos) << text.text;
  // The output has no other half but the call; the text beside that would go too.
  const Got half = server_.remove(items_path(id) + "/" + all.at("/data/3/id"));
  EXPECT_EQ(half.status, 400) << half.text;
  EXPECT_NE(half.at("/error/message").find(all.at("/data/1/id")), std::string::npos) << half.text;
  EXPECT_EQ(half.at("/error/message").find(all.at("/data/2/id")), std::string::npos) << half.text;
  EXPECT_EQ(server_.get(items_path(id) + "?order=asc").text, all.text);

  EXPECT_EQ(server_.remove(items_path(id) + "/" + all.at("/data/1/id") + "?whole=true").status, 200);
  EXPECT_EQ(texts(server_.get(items_path(id))), "hello ");
  EXPECT_EQ(server_.remove(items_path(id) + "/" + all.at("/data/0/id")).status, 200);
  EXPECT_EQ(texts(server_.get(items_path(id))), "");
}

TEST_F(Conversations, AreListed) {
  const std::string first = create(R"({"metadata":{"team":"red"}})");
  const std::string second = create(R"({"metadata":{"team":"blue","x":"1"}})");
  ask(first, "the weather in Oslo");
  const Got all = server_.get("/v1/conversations");
  EXPECT_EQ(all.at("/data/0/id"), first) << all.text;
  EXPECT_EQ(all.at("/data/0/title"), "the weather in Oslo");
  EXPECT_EQ(all.at("/data/0/turns"), "1");
  EXPECT_EQ(all.at("/data/1/id"), second);
  EXPECT_EQ(all.at("/data/1/metadata/team"), "blue");
  EXPECT_EQ(all.at("/has_more"), "false");
  EXPECT_EQ(all.at("/next"), "null");

  const auto only = [&](const std::string& query) {
    const Got got = server_.get("/v1/conversations?" + query);
    return got.body.get("data")->elements().size() == 1 ? got.at("/data/0/id") : got.text;
  };
  EXPECT_EQ(only("metadata[team]=blue"), second);
  EXPECT_EQ(only("metadata%5Bteam%5D=red"), first);
  EXPECT_EQ(only("search=OSLO+weather"), first);
  EXPECT_EQ(only("model=" + all.at("/data/0/model")), first);
  EXPECT_EQ(server_.get("/v1/conversations?search=nothing").at("/data"), "[]");
  EXPECT_EQ(server_.get("/v1/conversations?search=").status, 400);

  const Got page = server_.get("/v1/conversations?limit=1");
  EXPECT_EQ(page.at("/data/0/id"), first);
  EXPECT_EQ(page.at("/has_more"), "true");
  const Got next = server_.get("/v1/conversations?limit=1&after=" + page.at("/next"));
  EXPECT_EQ(next.at("/data/0/id"), second);
  EXPECT_EQ(server_.get("/v1/conversations?after=nonsense").status, 400);
}

TEST_F(Conversations, OfOthersLookLikeMissingOnes) {
  const std::string id = create(R"({"items":[)" + user_item("mine") + "]}");
  const auto key = [&](KeyInfo info) {
    return std::vector<net::Header>{
        {"x-api-key", std::string(create_key(server_.store(), std::move(info)).value().secret.reveal())}};
  };
  const auto other = key({.name = "other", .tenant = "other"});
  const auto narrow = key({.name = "narrow", .conversations = {"team-*"}});
  const auto own = key({.name = "own"});
  TestServer server({.store = store_, .routes = conversation_routes()});
  EXPECT_EQ(server.get("/v1/conversations/" + id, own).status, 200);
  const std::string missing = server.get("/v1/conversations/conv_no", own).text;
  for (const auto& headers : {other, narrow}) {
    EXPECT_EQ(server.get("/v1/conversations/" + id, headers).text, missing);
    EXPECT_EQ(server.send("DELETE", "/v1/conversations/" + id, "", headers).status, 404);
    EXPECT_EQ(server.get("/v1/conversations", headers).at("/data"), "[]");
    EXPECT_EQ(server.get("/v1/conversations?search=mine", headers).at("/data"), "[]");
  }
  EXPECT_EQ(server.post("/v1/conversations", "{}", narrow).status, 403);
}

}  // namespace
}  // namespace parley::server
