// Bundles the sources into plain JavaScript: `node scripts/bundle.mjs <directory>`. The bundle is CommonJS, which loads faster
// and which Jest needs. The ESM entry is a thin wrapper around it, so that a process that uses both loads the library once.
// Worker threads are ESM.
import { chmodSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'rolldown'

const root = fileURLToPath(new URL('..', import.meta.url))
const source = (path) => join(root, 'src', path)
const { dependencies, engines } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
const common = { platform: 'node', external: [/^node:/, ...Object.keys(dependencies)], logLevel: 'warn' }

/** Modules that a start does not use. They are loaded on first use, since loading them takes a tenth of a start. */
const lazyModules = [
  ...['child_process', 'dns', 'http', 'http2', 'https', 'net', 'perf_hooks', 'readline', 'tls', 'v8', 'zlib'].map(
    (name) => `node:${name}`,
  ),
  're2js',
]
const lazyRequire =
  'const lazyRequire = (load) => { let loaded; return new Proxy({}, { get: (_, name) => (loaded ??= load())[name] }) }\n'

/** `let node_tls = require("node:tls")` becomes a proxy that loads the module when a property is read. */
function loadLazily(code) {
  const pattern = new RegExp(`^(let \\w+ = )(require\\("(?:${lazyModules.join('|')})"\\));$`, 'gm')
  const lazy = code.replaceAll(pattern, '$1lazyRequire(() => $2);')
  return lazy === code ? null : { code: lazyRequire + lazy, map: null }
}
const output = (dir, format, extension) => ({
  dir,
  format,
  entryFileNames: `[name].${extension}`,
  chunkFileNames: `[name]-[hash].${extension}`,
})

/** The programs of the package: what each puts before the arguments that were typed. */
const programs = { coxswain: [], 'kubectl-flow': ['flow'], 'kubectl-why': ['why'] }

/** As in bin/coxswain: V8 takes flags at exec only, so the program of the servers starts as a shell script. */
const serverFlags = '--max-semi-space-size=16 --no-allocation-site-pretenuring --heap-growing-percent=100'
const serverStart = `#!/bin/sh
':' //; case "$1" in up | apiserver) exec node ${serverFlags} "$0" "$@" ;; *) exec node "$0" "$@" ;; esac`

// Said before anything is loaded that an older Node.js cannot even read.
const oldestMajor = Number.parseInt(engines.node.replace('>=', ''))
const isTooOld = `Number.parseInt(process.versions.node) < ${oldestMajor}`
const complaint = `\`coxswain needs Node.js ${oldestMajor} or newer; this is \${process.version}\``

const libraryText = `if (${isTooOld}) throw new Error(${complaint})\nmodule.exports = require('./library.cjs')\n`

const programText = (first) =>
  [
    first.length === 0 ? serverStart : '#!/usr/bin/env node',
    `if (${isTooOld}) {`,
    `  console.error(${complaint})`,
    '  process.exit(1)',
    '}',
    "require('node:module').enableCompileCache?.()",
    ...(first.length === 0 ? [] : [`process.argv.splice(2, 0, ${first.map((word) => `'${word}'`).join(', ')})`]),
    "require('./cli.cjs')",
    '',
  ].join('\n')

async function bundle(folder) {
  await build({
    ...common,
    input: { cli: source('cli/main.ts'), library: source('cluster/index.ts') },
    plugins: [{ name: 'load-lazily', renderChunk: loadLazily }],
    output: output(folder, 'cjs', 'cjs'),
  })
  const threads = {
    'disk-thread': 'store/sqlite/disk-thread.ts',
    'offload-thread': 'platform/node/process/offload-thread.ts',
    'snapshot-thread': 'store/sqlite/snapshot-thread.ts',
    'tls-thread': 'platform/node/tls-thread/tls-thread.ts',
    'yaml-to-json': 'apiserver/http/yaml-to-json.ts',
  }
  await build({
    ...common,
    input: Object.fromEntries(Object.entries(threads).map(([name, path]) => [name, source(path)])),
    output: output(folder, 'esm', 'mjs'),
  })
  writeFileSync(join(folder, 'index.cjs'), libraryText)
  const names = Object.keys(createRequire(import.meta.url)(join(folder, 'index.cjs')))
  writeFileSync(
    join(folder, 'index.mjs'),
    `import library from './index.cjs'\nexport const { ${names.join(', ')} } = library\n`,
  )
  for (const [name, first] of Object.entries(programs)) {
    writeFileSync(join(folder, `${name}.cjs`), programText(first))
    chmodSync(join(folder, `${name}.cjs`), 0o755)
  }
}

// Whole or not at all: whoever starts meanwhile finds the old one, the new one, or none.
const target = resolve(process.argv[2] ?? join(root, 'dist'))
const fresh = `${target}.${process.pid}`
rmSync(fresh, { recursive: true, force: true })
mkdirSync(fresh, { recursive: true })
try {
  await bundle(fresh)
  rmSync(target, { recursive: true, force: true })
  renameSync(fresh, target)
} finally {
  rmSync(fresh, { recursive: true, force: true })
}
