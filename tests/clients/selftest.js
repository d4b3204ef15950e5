// Breaks every stored payload and every stored stream and answer, and fails unless the judges see it.
//   node selftest.js PAYLOADS STREAMS
import assert from 'node:assert/strict';
import { difference, streamsOf } from './streams.js';
import { compile, dialects, payloadsOf } from './types.js';

const payloads = [...payloadsOf(process.argv[2]), ...payloadsOf(process.argv[3])];
const streams = streamsOf(process.argv[3]);

// The payload with its first message, or the whole answer, put through `change`.
function changed(payload, change) {
  const document = structuredClone(payload.document);
  change(document[dialects[payload.dialect].request]?.[0] ?? document);
  return { ...payload, document };
}

// Every string becomes a number, at any depth.
function numbers(value) {
  for (const [name, member] of Object.entries(value)) {
    if (typeof member === 'string') value[name] = 7;
    else if (member !== null && typeof member === 'object') numbers(member);
  }
}

const unheard = (message) => (message.unheard_of = 1);
for (const change of [numbers, unheard]) {
  const errors = compile(payloads.map((payload) => changed(payload, change)));
  for (const { name } of payloads) assert(errors.has(name), `${name}: the compiler took it after '${change.name}'`);
}

const breaks = {
  cut: (text) => text.slice(0, text.length * 0.6),
  'without its last event': (text) => {
    const separator = text.startsWith('{') ? '\n' : '\n\n';
    const events = text.trimEnd().split(separator).filter((event) => event !== 'data: [DONE]');
    return events.slice(0, -1).join(separator) + separator;
  },
  'with another name': (text) => text.replaceAll(/"(add|lookup)"|K\u00f6ln/g, (name) => name.toUpperCase()),
};
console.error = console.warn = () => {};  // some clients speak of what they cannot parse
for (const stream of streams) {
  assert.equal(await difference(stream), null, stream.name);
  for (const [name, change] of Object.entries(breaks)) {
    const bytes = Buffer.from(change(stream.bytes.toString()));
    assert.notEqual(await difference({ ...stream, bytes }), null, `${stream.name}, ${name}: the client read it as if it were whole`);
  }
}
assert(payloads.length > 0 && streams.length > 0);
console.log(`selftest: ${payloads.length} payloads and ${streams.length} streams, broken, were all found out`);
