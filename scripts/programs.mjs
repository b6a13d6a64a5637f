// The programs of the package, as text: what is executed before the bundle is loaded.
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const read = (path) => readFileSync(fileURLToPath(new URL(`../${path}`, import.meta.url)), 'utf8')
const { engines } = JSON.parse(read('package.json'))

/** The arguments that each program adds before the typed ones. */
const programs = { coxswain: [], 'kubectl-flow': ['flow'], 'kubectl-why': ['why'] }

// As in bin/coxswain. V8 accepts flags at exec only, so the program of the servers starts as a shell script, in one line that is
// a string and a comment in JavaScript.
const serverCommands = ['up', 'apiserver', 'server', 'kube-apiserver']
const serverFlags = read('bin/server-flags').trim()
const serverStart = [
  "#!/bin/sh\n':' //",
  'MALLOC_ARENA_MAX="${MALLOC_ARENA_MAX:-2}"',
  'MALLOC_MMAP_THRESHOLD_="${MALLOC_MMAP_THRESHOLD_:-65536}"',
  'export MALLOC_ARENA_MAX MALLOC_MMAP_THRESHOLD_',
  `case "$1" in ${serverCommands.join(' | ')}) exec node ${serverFlags} "$0" "$@" ;; *) exec node "$0" "$@" ;; esac`,
].join('; ')

// Checked before loading anything that an older Node.js cannot parse.
const oldestMajor = Number.parseInt(engines.node.replace('>=', ''))
const isTooOld = `Number.parseInt(process.versions.node) < ${oldestMajor}`
const complaint = `\`coxswain needs Node.js ${oldestMajor} or newer; this is \${process.version}\``

export const libraryText = `if (${isTooOld}) throw new Error(${complaint})\nmodule.exports = require('./library.cjs')\n`

const programText = (first) =>
  [
    first.length === 0 ? serverStart : '#!/usr/bin/env node',
    `if (${isTooOld}) {`,
    `  console.error(${complaint})`,
    '  process.exit(1)',
    '}',
    ...(first.length === 0 ? [] : [`process.argv.splice(2, 0, ${first.map((word) => `'${word}'`).join(', ')})`]),
    "require('./load-bundle.cjs')",
    '',
  ].join('\n')

/**
 * The main script of the executable. It has V8's flags of servers already, because those that it is made with are passed to all
 * commands; the variables of the C library need a second exec. It is the kubectl plugin by whose name it is started.
 */
export const executableText = `const { basename } = require('node:path')
const first = new Map(${JSON.stringify(Object.entries(programs))}).get(basename(process.argv0)) ?? []
const typed = [...first, ...process.argv.slice(2)]
const { MALLOC_ARENA_MAX = '2', MALLOC_MMAP_THRESHOLD_ = '65536' } = process.env
if (${JSON.stringify(serverCommands)}.includes(typed[0]) && process.env.MALLOC_ARENA_MAX === undefined)
  process.execve(process.execPath, ['coxswain', ...typed], { ...process.env, MALLOC_ARENA_MAX, MALLOC_MMAP_THRESHOLD_ })
process.argv.splice(2, Infinity, ...typed)
require('./load-bundle.cjs')
`

/** The text of each program, by name. */
export const programTexts = Object.fromEntries(
  Object.entries(programs).map(([name, first]) => [name, programText(first)]),
)
