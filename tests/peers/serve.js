// Serves the fixtures on the loopback address, prints the URL, and stops when its input ends.
//   serve.js FIXTURES KEY
import { LLMock } from "@copilotkit/aimock";

const [fixtures, key] = process.argv.slice(2);
// Without this a fixture for the third turn answers the first one, too.
process.env.AIMOCK_STRICT_TURN_INDEX = "1";
const peer = new LLMock({ host: "127.0.0.1", port: 0, strict: true, chunkSize: 7, auth: { apiKeys: [key] } });
peer.loadFixtureFile(fixtures);
await peer.start();
console.log(peer.url);
process.stdin.resume();
process.stdin.on("end", () => process.exit(0));
