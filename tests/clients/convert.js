// Writes every document of examples/ and tests/corpus in every dialect that has an official client.
//   node convert.js PARLEY ROOT FOLDER   makes FOLDER/<name>.<dialect>.json
import { spawnSync } from 'node:child_process';
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { count, dialects } from './types.js';

const [program, root, folder] = process.argv.slice(2);

function parley(args, input) {
  const run = spawnSync(program, args, { input, encoding: 'utf8', maxBuffer: 1 << 28 });
  if (run.error || run.status === null || run.status > 1) throw new Error(`parley ${args.join(' ')}: ${run.error ?? run.stderr}`);
  return run;
}

// The inputs of `read D` in a file of cases; those that are spelled with options are about other things.
function documentsOfCases(path) {
  const lines = readFileSync(path, 'utf8').split('\n').filter((line) => !line.startsWith('#'));
  const documents = [];
  for (let i = 0; i < lines.length; ++i) {
    const from = /^read (\w+)$/.exec(lines[i])?.[1];
    if (!from) continue;
    const end = lines.findIndex((line, j) => j > i && /^(----|(read|write|through|check|detect)\b.*)?$/.test(line));
    documents.push({ name: `${from}_${basename(path, '.case')}_${i}`, from, text: lines.slice(i + 1, end).join('\n') });
  }
  return documents;
}

function documentsOfExample(path) {
  const from = JSON.parse(parley(['check', '--json', path]).stdout.split('\n')[0]).dialect;
  if (!from) throw new Error(`${path}: parley check --json names no dialect`);
  const texts = path.endsWith('.jsonl') ? readFileSync(path, 'utf8').trim().split('\n') : [readFileSync(path, 'utf8')];
  return texts.map((text, i) => ({ name: `example_${basename(path).replace('.', '_')}_${i}`, from, text }));
}

const there = JSON.parse(parley(['dialects', '--json']).stdout).dialects.map((dialect) => dialect.name);
const targets = Object.keys(dialects).filter((name) => there.includes(name));
const files = (place, ending) =>
  readdirSync(join(root, place), { recursive: true }).filter((name) => ending.test(name)).sort().map((name) => join(root, place, name));
const documents = [
  ...files('examples', /\.jsonl?$/).flatMap(documentsOfExample),
  ...files('tests/corpus', /\.case$/).flatMap(documentsOfCases),
];

const written = [];
let refused = 0;
for (const { name, from, text } of documents) {
  // A document in its own dialect comes out as it went in, odd as it may be: that says nothing of Parley.
  for (const dialect of targets.filter((target) => target !== from)) {
    const run = parley(['convert', '--quiet', '--repair', '--complete-pending', '--from', from, '--to', dialect], text);
    if (run.status === 0) {
      writeFileSync(join(folder, `${name}.${dialect}.json`), run.stdout);
      written.push({ dialect });
    } else {
      refused += 1;
    }
  }
}
if (targets.length === 0) throw new Error('parley has no dialect with an official client');
for (const target of targets) {
  if (!written.some(({ dialect }) => dialect === target)) throw new Error(`nothing could be written in the dialect ${target}`);
}
console.log(`convert: ${documents.length} documents, ${written.length} payloads (${count(written)}), ${refused} refused`);
