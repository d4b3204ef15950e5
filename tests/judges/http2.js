// A server that speaks HTTP/2 over TLS, and HTTP/1.1 to who cannot: http2.js KEY CERTIFICATE
//
// Says where it listens; then, for each request, the version of HTTP, which connection it came by, and how many bytes
// its body had. The path says what it does. Lives as long as its input is open.
const fs = require('fs');
const http2 = require('http2');

const event = (delta, finish) =>
  `data: ${JSON.stringify({id: 'a', model: 'm', choices: [{index: 0, delta, finish_reason: finish}]})}\n\n`;
const beginning = event({role: 'assistant', content: 'Hel'}, null);
const end = event({content: 'lo'}, null) + event({}, 'stop') + 'data: [DONE]\n\n';

const doings = {
  good: (response) => {
    response.write(beginning);
    setTimeout(() => response.end(end), 20);
  },
  // The connection is taken away, and a new one is wanted for the next request.
  leaves: (response) => {
    response.end(beginning + end);
    response.stream.session.close();
  },
  breaks: (response) => {
    response.write(beginning);
    setTimeout(() => response.stream.close(http2.constants.NGHTTP2_INTERNAL_ERROR), 20);
  },
};

const server = http2.createSecureServer(
  {key: fs.readFileSync(process.argv[2]), cert: fs.readFileSync(process.argv[3]), allowHTTP1: true});
const connections = [];
server.on('request', (request, response) => {
  const session = response.stream ? response.stream.session : request.socket;
  if (!connections.includes(session)) connections.push(session);
  let bytes = 0;
  request.on('data', (piece) => { bytes += piece.length; });
  request.on('end', () => {
    console.log(request.httpVersion, connections.indexOf(session), bytes > 100000 ? 'large' : 'small');
    response.writeHead(200, {'content-type': 'text/event-stream'});
    doings[request.url.split('/')[1]](response);
  });
});
server.listen(0, '127.0.0.1', () => console.log(`https://127.0.0.1:${server.address().port}`));
process.stdin.on('end', () => process.exit()).resume();
