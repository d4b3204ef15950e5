// Lets the official clients read streams, and compares the messages they make of them with what is expected.
//   node streams.js FOLDER...   every <name>.<dialect>.stream, with <name>.<dialect>.expected.json beside it
import { Anthropic } from '@anthropic-ai/sdk';
import { GoogleGenAI } from '@google/genai';
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { Ollama } from 'ollama';
import { OpenAI } from 'openai';
import { count } from './types.js';

const key = 'none';
const messages = [{ role: 'user', content: 'hi' }];

// How each client makes of a stream that comes from `url` the answer that would have come without streaming. Those of
// Gemini and Ollama give chunks only, which are put together here by the rules of their documents.
const clients = {
  openai: (url) =>
    new OpenAI({ apiKey: key, baseURL: url, maxRetries: 0 }).chat.completions
      .stream({ model: 'm', messages, stream_options: { include_usage: true } })
      .finalChatCompletion(),
  responses: (url) =>
    new OpenAI({ apiKey: key, baseURL: url, maxRetries: 0 }).responses.stream({ model: 'm', input: 'hi' }).finalResponse(),
  anthropic: (url) =>
    new Anthropic({ apiKey: key, baseURL: url, maxRetries: 0 }).messages
      .stream({ model: 'm', max_tokens: 1024, messages })
      .finalMessage(),
  gemini: async (url) => {
    const client = new GoogleGenAI({ apiKey: key, httpOptions: { baseUrl: url } });
    const parts = [];
    let all = {};
    let candidate = {};
    for await (const chunk of await client.models.generateContentStream({ model: 'm', contents: 'hi' })) {
      const { content, ...rest } = chunk.candidates?.[0] ?? {};
      content?.parts?.forEach((part) => addPart(parts, part));
      candidate = { ...candidate, ...rest, content: { role: content?.role ?? candidate.content?.role, parts } };
      all = { ...all, ...chunk, candidates: [candidate] };
    }
    return all;
  },
  ollama: async (url) => {
    const all = { message: {} };
    for await (const { message, ...rest } of await new Ollama({ host: url }).chat({ model: 'm', messages, stream: true })) {
      all.message.role = message.role;
      for (const text of ['content', 'thinking']) {
        if (text in message) all.message[text] = (all.message[text] ?? '') + message[text];
      }
      if (message.tool_calls) all.message.tool_calls = [...(all.message.tool_calls ?? []), ...message.tool_calls];
      Object.assign(all, rest);
    }
    return all;
  },
};

// Gemini's client leaves it to its user to join what was split: plain texts of one kind.
function addPart(parts, part) {
  const plain = ({ text, thought, ...rest }) => text !== undefined && Object.keys(rest).length === 0;
  const last = parts.at(-1);
  if (last && plain(last) && plain(part) && last.thought === part.thought) last.text += part.text;
  else parts.push({ ...part });
}

// What the helpers add that never was on the wire.
const added = new Set(['parsed', 'parsed_arguments', 'parsed_output', 'output_parsed', 'output_text', 'sdkHttpResponse']);

// The same message is the same text: members in alphabetical order, without nulls (clients fill in their own).
export function canonical(value) {
  if (Array.isArray(value)) return value.map(canonical);
  if (value === null || typeof value !== 'object') return value;
  const members = Object.entries(value).filter(([name, member]) => member != null && !added.has(name) && !name.startsWith('_'));
  return Object.fromEntries(members.sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, member]) => [name, canonical(member)]));
}

export function streamsOf(folder) {
  const names = readdirSync(folder).filter((name) => name.endsWith('.stream')).sort();
  return names.map((name) => {
    const dialect = name.split('.')[1];
    const expected = join(folder, name.replace(/stream$/, 'expected.json'));
    if (!(dialect in clients)) throw new Error(`${name}: no client is known for '${dialect}'`);
    if (!existsSync(expected)) throw new Error(`${name}: there is no ${expected}`);
    return { name, dialect, bytes: readFileSync(join(folder, name)), expected: JSON.parse(readFileSync(expected, 'utf8')) };
  });
}

// What the client makes of the stream when its bytes come in pieces of these sizes, over and over.
async function readBy(client, { bytes, dialect }, sizes) {
  const type = dialect === 'ollama' ? 'application/x-ndjson' : 'text/event-stream';
  const server = createServer(async (request, response) => {
    request.resume();
    response.socket.setNoDelay(true);
    response.writeHead(200, { 'content-type': type });
    for (let at = 0, i = 0; at < bytes.length; at += sizes[i++ % sizes.length]) {
      response.write(bytes.subarray(at, at + sizes[i % sizes.length]));
      await setImmediate();
    }
    response.end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    return canonical(await client(`http://127.0.0.1:${server.address().port}`));
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

// The members of `actual` that `expected` has. A stream has ids and times that an answer of Parley's may leave out; their
// files say so by the name 'partial'.
function wanted(actual, expected) {
  if (Array.isArray(actual) && Array.isArray(expected)) return actual.map((each, i) => wanted(each, expected[i]));
  const isObject = (value) => value !== null && typeof value === 'object';
  if (!isObject(actual) || !isObject(expected) || Array.isArray(expected)) return actual;
  const members = Object.entries(actual).filter(([key]) => key in expected);
  return Object.fromEntries(members.map(([key, value]) => [key, wanted(value, expected[key])]));
}

// Why the client's message is not the expected one, or null.
export async function difference(stream) {
  for (const sizes of [[1 << 30], [1, 2, 3, 5, 8, 13, 21, 34, 55], [7], [64, 1]]) {
    try {
      const message = await readBy(clients[stream.dialect], stream, sizes);
      const expected = canonical(stream.expected);
      assert.deepEqual(stream.name.startsWith('partial_') ? wanted(message, expected) : message, expected);
    } catch (error) {
      return `in pieces of ${sizes.join(', ')} bytes: ${error.message}`;
    }
  }
  return null;
}

if (process.argv[1] === import.meta.filename) {
  const streams = process.argv.slice(2).flatMap(streamsOf);
  if (streams.length === 0) throw new Error('there is no stream to read');
  let failed = 0;
  for (const stream of streams) {
    const why = await difference(stream);
    if (why === null) continue;
    failed += 1;
    console.error(`${stream.name} is not read as expected\n  ${why.replaceAll('\n', '\n  ')}`);
  }
  console.log(`streams: ${streams.length - failed} of ${streams.length} are read as expected (${count(streams)})`);
  process.exitCode = failed > 0 ? 1 : 0;
}
