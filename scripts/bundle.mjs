// Bundles the sources into plain JavaScript: `node scripts/bundle.mjs <directory>`. The bundle is CommonJS, which loads faster
// and which Jest needs. The ESM entry is a thin wrapper around it, so that a process that uses both loads the library once.
// Worker threads are ESM.
import { chmodSync, copyFileSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'rolldown'
import { bundlePage } from './bundle-page.mjs'
import { controllerNames } from './controller-entry.mjs'
import { libraryText, programTexts } from './programs.mjs'
import { packagesOf, sbom } from './sbom.mjs'
import { threads } from './threads.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
const source = (path) => join(root, 'src', path)
const json = (path) => JSON.parse(readFileSync(join(root, path), 'utf8'))
const fields = json('package.json')
const installed = Object.keys(fields.dependencies)
/** Also files of a package: `yaml`, `@noble/ciphers/salsa.js`. */
const isInstalled = (id) => installed.some((name) => id === name || id.startsWith(`${name}/`))
const isExternal = (id) => id.startsWith('node:') || isInstalled(id)
const common = { cwd: root, platform: 'node', external: isExternal, logLevel: 'warn' }

/** Modules that a start does not use. They are loaded on first use, since loading them takes a tenth of a start. */
const lazyModules = [
  ...['child_process', 'dns', 'http', 'http2', 'https', 'net', 'perf_hooks', 'readline', 'tls', 'v8', 'zlib'].map(
    (name) => `node:${name}`,
  ),
  '@noble/ciphers/salsa.js',
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
  // V8 stores a text with other characters in twice the memory.
  minify: { compress: false, mangle: false, codegen: { removeWhitespace: false, asciiOnly: true } },
  comments: false,
})

/** The licenses of bundled packages require that copies contain their texts. */
const licenseText = (name) =>
  `${name}\n${'='.repeat(name.length)}\n\n${readFileSync(join(root, 'node_modules', name, 'LICENSE'), 'utf8').trim()}\n`

async function bundle(folder) {
  const programs = await build({
    ...common,
    input: { cli: source('cli/main.ts'), library: source('cluster/index.ts') },
    plugins: [{ name: 'load-lazily', renderChunk: loadLazily }],
    output: output(folder, 'cjs', 'cjs'),
  })
  const workers = await build({
    ...common,
    input: Object.fromEntries(Object.entries(threads).map(([name, path]) => [name, source(path)])),
    output: output(folder, 'esm', 'mjs'),
  })
  const page = await bundlePage(join(folder, 'ui'))
  const modules = [programs, workers].flatMap(({ output: chunks }) => chunks.flatMap(({ moduleIds = [] }) => moduleIds))
  const bundled = packagesOf([...modules, ...page])
  const bill = sbom({ fields, lock: json('package-lock.json'), bundled, installed })
  writeFileSync(join(folder, 'sbom.cdx.json'), `${JSON.stringify(bill, undefined, 2)}\n`)
  writeFileSync(join(folder, 'third-party-licenses.txt'), bundled.map(licenseText).join('\n'))
  writeFileSync(join(folder, 'index.cjs'), libraryText)
  const names = Object.keys(createRequire(import.meta.url)(join(folder, 'index.cjs')))
  const esmText = (exported) => `import library from './index.cjs'\nexport const { ${exported.join(', ')} } = library\n`
  writeFileSync(join(folder, 'index.mjs'), esmText(names))
  const { values } = controllerNames
  writeFileSync(join(folder, 'controller.mjs'), esmText(values))
  writeFileSync(
    join(folder, 'controller.cjs'),
    `const { ${values.join(', ')} } = require('./index.cjs')\nmodule.exports = { ${values.join(', ')} }\n`,
  )
  copyFileSync(join(root, 'scripts', 'load-bundle.cjs'), join(folder, 'load-bundle.cjs'))
  for (const [name, text] of Object.entries(programTexts)) {
    writeFileSync(join(folder, `${name}.cjs`), text)
    chmodSync(join(folder, `${name}.cjs`), 0o755)
  }
}

// Renamed atomically: a process that starts meanwhile finds the old bundle, the new one, or none.
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
