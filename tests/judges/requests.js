// requests.js PROGRAM COUNT SEED: see requests.sh.
const http = require('http');
const {Duplex} = require('stream');
const {spawnSync} = require('child_process');

const [program, count, seed] = [process.argv[2], Number(process.argv[3]), Number(process.argv[4])];

// A generator of numbers that the seed decides (mulberry32).
let state = seed >>> 0;
function random(below) {
  state = (state + 0x6D2B79F5) >>> 0;
  let t = Math.imul(state ^ (state >>> 15), state | 1);
  t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
  return ((t ^ (t >>> 14)) >>> 0) % below;
}

const next = 'GET /next HTTP/1.1\r\nHost: x\r\n\r\n';
const post = (fields, body) => `POST /p?q=1 HTTP/1.1\r\nHost: x\r\n${fields}\r\n${body}`;
const known = [
  next,
  post('Content-Length: 3\r\n', 'abc'),
  post('Transfer-Encoding: chunked\r\n', '3\r\nabc\r\n0\r\n\r\n'),
  post('Transfer-Encoding: chunked\r\n', '3;name=value\r\nabc\r\n2\r\nde\r\n0\r\nX-After: 1\r\n\r\n'),
  post('Transfer-Encoding: xchunked\r\n', '0\r\n\r\n'),
  post('Transfer-Encoding: gzip, chunked\r\n', '0\r\n\r\n'),
  post('Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n', '0\r\n\r\n'),
  post('Transfer-Encoding:\r\n chunked\r\n', '0\r\n\r\n'),
  post('Transfer-Encoding : chunked\r\n', '0\r\n\r\n'),
  post('Transfer-Encoding: chunked\r\nContent-Length: 5\r\n', '0\r\n\r\n'),
  post('Content-Length: 5\r\nTransfer-Encoding: chunked\r\n', '0\r\n\r\n'),
  post('Content-Length: 3\r\nContent-Length: 3\r\n', 'abc'),
  post('Content-Length: 3\r\nContent-Length: 0\r\n', 'abc'),
  post('Content-Length: 3, 3\r\n', 'abc'),
  post('Content-Length: +3\r\n', 'abc'),
  post('Content-Length: 0x3\r\n', 'abc'),
  post('Content-Length: 3 \r\n', 'abc'),
  post('Content-Length: \t3\r\n', 'abc'),
  post('Content-Length:\v3\r\n', 'abc'),
  post('Content-Length: 3\r\nX: a\r\n b\r\n', 'abc'),
  post('X: a\nContent-Length: 3\r\n', 'abc'),
  post('X: a\rContent-Length: 3\r\n', 'abc'),
  post('X: a\0b\r\nContent-Length: 3\r\n', 'abc'),
  post('Transfer-Encoding: chunked\r\n', '3\nabc\r\n0\r\n\r\n'),
  post('Transfer-Encoding: chunked\r\n', '3\r\nabc0\r\n\r\n'),
  post('Transfer-Encoding: chunked\r\n', '0x3\r\nabc\r\n0\r\n\r\n'),
  post('Transfer-Encoding: chunked\r\n', '3 \r\nabc\r\n0\r\n\r\n'),
  post('Transfer-Encoding: chunked\r\n', '3;\n\r\nabc\r\n0\r\n\r\n'),
  post('Transfer-Encoding: chunked\r\n', '3;a="\r\nabc\r\n0\r\n\r\n'),
  post('Transfer-Encoding: chunked\r\n', '10000000000000003\r\nabc\r\n0\r\n\r\n'),
  post('Connection: close\r\nContent-Length: 0\r\n', ''),
  'POST /old HTTP/1.0\r\nContent-Length: 3\r\n\r\nabc',
  'POST /old HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
  'GET / HTTP/1.1\r\n\r\n',
  'GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n',
  'GET http://other/a?b HTTP/1.1\r\nHost: x\r\n\r\n',
  'OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n',
  'GET /a b HTTP/1.1\r\nHost: x\r\n\r\n',
  'GET /a HTTP/1.1\nHost: x\n\n',
  '\r\n\r\nGET /a HTTP/1.1\r\nHost: x\r\n\r\n',
  'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
].flatMap((each) => [each, each + next]);

const pieces = ['\r\n', '\n', '\r', ' ', '\t', '\0', ':', ',', ';', '0', '1', '3', 'a', 'chunked', 'Content-Length: 2\r\n',
  'Transfer-Encoding: chunked\r\n', 'Host: y\r\n', '\r\n\r\n', '0\r\n\r\n', '\x7f', '\xe9', '#', '?', '%0d%0a', '"'];

function changed() {
  let text = known[random(random(2) ? known.length : 8)];  // half of them from the good ones
  for (let i = 1 + random(3); i > 0; --i) {
    const at = random(text.length + 1);
    const kind = random(4);
    if (kind === 0) text = text.slice(0, at) + pieces[random(pieces.length)] + text.slice(at);
    else if (kind === 1) text = text.slice(0, at) + text.slice(at + 1 + random(4));
    else if (kind === 2) text = text.slice(0, at) + String.fromCharCode(random(256)) + text.slice(at + 1);
    else text = text.slice(0, at) + known[random(known.length)].slice(random(40));
  }
  return text;
}

// What Node's server reads from a client that sends `bytes`, gets its answers, and leaves.
class Client extends Duplex {
  constructor(bytes) {
    super();
    this.bytes = bytes;
    this.remoteAddress = '127.0.0.1';
  }
  // In small pieces, each in its own turn of the loop: an error then does not hide the requests before it.
  _read() {
    setImmediate(() => {
      if (this.destroyed || this.bytes.length === 0) return;
      this.push(this.bytes.subarray(0, 16));
      this.bytes = this.bytes.subarray(16);
    });
  }
  _write(chunk, encoding, done) { done(); }
  setTimeout() { return this; }
  setNoDelay() { return this; }
  setKeepAlive() { return this; }
  destroySoon() { this.destroy(); }
}

const hex = (text) => Buffer.from(text, 'latin1').toString('hex');
const withoutHost = (url) => url.replace(/^https?:\/\/[^/?]*/, '').replace(/^(\?|$)/, '/$1').replace(/^([^?]*)\?$/, '$1');

let seen;
const server = http.createServer((request, response) => {
  const own = seen;
  const body = [];
  request.on('data', (chunk) => body.push(chunk));
  request.on('end', () => {
    own.push([hex(request.method), hex(withoutHost(request.url)), Buffer.concat(body).toString('hex')]);
    response.end('ok');
  });
  request.on('error', () => {});
});
server.on('clientError', (error, socket) => socket.destroy());

async function readByNode(bytes) {
  seen = [];
  const own = seen;
  const client = new Client(bytes);
  client.on('error', () => {});
  server.emit('connection', client);
  // Nothing here waits for a network: when all is sent, some turns of the loop are enough.
  for (let quiet = 0; quiet < 8; ++quiet) {
    await new Promise(setImmediate);
    if (!client.destroyed && client.bytes.length > 0) quiet = 0;
  }
  client.destroy();
  return own;
}

(async () => {
  const cases = [...known];
  while (cases.length < known.length + count) cases.push(changed());
  const inputs = cases.map((text) => Buffer.from(text, 'latin1'));
  const ran = spawnSync(program, {input: inputs.map((each) => each.toString('hex')).join('\n') + '\n',
    maxBuffer: 1 << 30});
  const lines = ran.stdout.toString().trim().split('\n');
  if (ran.status !== 0 || lines.length !== inputs.length) throw new Error(`${program} has ended with ${ran.status}`);
  let both = 0, onlyNode = 0, onlyParley = 0;
  const bad = [];
  for (let i = 0; i < inputs.length; ++i) {
    const parley = JSON.parse(lines[i]);
    const end = parley.pop();
    const node = await readByNode(inputs[i]);
    const common = Math.min(node.length, parley.length);
    both += common;
    onlyNode += node.length - common;
    onlyParley += parley.length - common;
    if (JSON.stringify(node.slice(0, common)) !== JSON.stringify(parley.slice(0, common))) {
      bad.push({sent: JSON.stringify(cases[i]), node: JSON.stringify(node), parley: JSON.stringify(parley), end});
    }
  }
  for (const each of bad.slice(0, 10)) console.log(each);
  console.log(`requests: ${inputs.length} inputs; ${both} requests read by both and equal, ${onlyNode} by Node only, ` +
    `${onlyParley} by Parley only, ${bad.length} read differently`);
  process.exit(bad.length === 0 && both >= 1000 ? 0 : 1);
})();
