// Compiles requests and answers against the types of the official clients.
//   node types.js FOLDER...   every <name>.<dialect>.json and <name>.<dialect>.expected.json of the folders
import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const here = import.meta.dirname;

// The member that makes a document a request, the one that makes it an answer, and what a request needs that no
// conversation has.
export const dialects = {
  openai: { request: 'messages', answer: 'choices', needs: { model: 'm' } },
  responses: { request: 'input', answer: 'object', needs: { model: 'm' } },
  anthropic: { request: 'messages', answer: 'stop_reason', needs: { model: 'm', max_tokens: 1 } },
  gemini: { request: 'contents', answer: 'candidates', needs: {} },
  ollama: { request: 'messages', answer: 'message', needs: { model: 'm' } },
  converse: { request: 'messages', answer: 'output', needs: { modelId: 'm' } },
  deepseek: { request: 'messages', answer: 'choices', needs: { model: 'm' } },
  moonshot: { request: 'messages', answer: 'choices', needs: { model: 'm' } },
  dashscope: { request: 'messages', answer: 'choices', needs: { model: 'm' } },
};

export function payloadsOf(folder) {
  const names = readdirSync(folder).filter((name) => name.endsWith('.json')).sort();
  return names.map((name) => {
    const dialect = name.split('.')[1];
    if (!(dialect in dialects)) throw new Error(`${name}: no client is known for '${dialect}'`);
    return { name, dialect, document: JSON.parse(readFileSync(join(folder, name), 'utf8')) };
  });
}

function source({ dialect, document }) {
  const { request, answer, needs } = dialects[dialect];
  const shape = Array.isArray(document) ? 'One[]' : request in document ? 'Request' : answer in document ? 'Answer' : 'One';
  const value = shape === 'Request' ? { ...needs, ...document } : document;
  return `import type { ${dialect} } from './wire.js';\nexport const x: ${dialect}.${shape} = ${JSON.stringify(value, null, 1)};\n`;
}

// The compiler's words on each payload that does not fit, by its name.
export function compile(payloads) {
  const folder = mkdtempSync(join(here, 'compiled-'));
  try {
    for (const file of ['wire.ts', 'tsconfig.json']) cpSync(join(here, file), join(folder, file));
    payloads.forEach((payload, i) => writeFileSync(join(folder, `p${i}.ts`), source(payload)));
    const run = spawnSync(process.execPath, [join(here, 'node_modules/typescript/bin/tsc'), '-p', folder, '--pretty', 'false'], {
      cwd: folder,
      encoding: 'utf8',
      maxBuffer: 1 << 28,
    });
    const errors = new Map();
    let last = null;
    for (const line of run.stdout.split('\n').filter(Boolean)) {
      const place = /^p(\d+)\.ts\((\d+),\d+\): (error .*)$/.exec(line);
      if (place) {
        last = payloads[place[1]].name;
        errors.set(last, [...(errors.get(last) ?? []), `line ${place[2] - 1}: ${place[3]}`]);
      } else if (last && line.startsWith(' ')) {
        errors.get(last).push(line);
      } else {
        throw new Error(`tsc: ${line}`);
      }
    }
    if (run.error || run.stderr || (run.status !== 0) !== errors.size > 0) {
      throw new Error(`tsc did not run: ${run.error ?? run.stderr} (exit ${run.status})`);
    }
    return errors;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

export function count(items) {
  const numbers = {};
  for (const { dialect } of items) numbers[dialect] = (numbers[dialect] ?? 0) + 1;
  return Object.entries(numbers).map(([dialect, number]) => `${dialect} ${number}`).join(', ');
}

if (process.argv[1] === import.meta.filename) {
  const payloads = process.argv.slice(2).flatMap(payloadsOf);
  if (payloads.length === 0) throw new Error('there is no payload to compile');
  const errors = compile(payloads);
  for (const [name, lines] of errors) console.error(`${name} does not fit its client's type:\n  ${lines.join('\n  ')}`);
  console.log(`types: ${payloads.length - errors.size} of ${payloads.length} payloads fit (${count(payloads)})`);
  process.exitCode = errors.size > 0 ? 1 : 0;
}
