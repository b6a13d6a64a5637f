// Makes the executable of this machine's architecture: `node scripts/executable.mjs <file>`. It is the Node.js that runs this
// script, with the bundle, the packages that the bundle needs, and the web page as a virtual file system.
import { execFileSync } from 'node:child_process'
import { globSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'rolldown'
import { executableText } from './programs.mjs'
import { closure, sbom } from './sbom.mjs'
import { threads } from './threads.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
const json = (path) => JSON.parse(readFileSync(path, 'utf8'))

/** The package whose Node.js is in the executable. */
export const nodePackage = `node-linux-${process.arch}`

const fields = json(join(root, 'package.json'))
const lock = json(join(root, 'package-lock.json'))
const packages = closure(lock, Object.keys(fields.dependencies))

/** The bundler's way to require modules of Node.js begins at the module's file, which a thread of an executable does not have. */
const requireWithoutFile = {
  name: 'require-without-file',
  renderChunk(code) {
    const changed = code.replaceAll('createRequire(import.meta.url)', 'createRequire("file:///")')
    if (changed.includes('import.meta')) throw new Error('a thread of an executable has no file that import.meta names')
    return { code: changed, map: null }
  },
}

/** A thread of an executable does not have the virtual file system, so its module contains everything that it imports. */
async function bundleThreads(folder) {
  for (const [name, path] of Object.entries(threads)) {
    const { output } = await build({
      cwd: root,
      input: join(root, 'src', path),
      platform: 'node',
      external: (id) => id.startsWith('node:'),
      logLevel: 'warn',
      plugins: [requireWithoutFile],
      output: { dir: folder, format: 'esm', entryFileNames: `${name}.mjs`, codeSplitting: false, comments: false },
    })
    const imported = output.flatMap((chunk) => chunk.imports).filter((id) => !isBuiltin(id))
    if (output.length !== 1 || imported.length > 0)
      throw new Error(`the thread ${name} is not one file: ${imported.join(', ')}`)
  }
}

/** Files of the virtual file system: path → file. */
function assetsOf(bundle) {
  const own = readdirSync(bundle, { recursive: true }).filter((path) => /\.[cm]js$|^ui\/./.test(path))
  const installed = packages.flatMap((name) =>
    globSync('**/*.{js,cjs,mjs,json,wasm}', { cwd: join(root, 'node_modules', name) }).map(
      (path) => `node_modules/${name}/${path}`,
    ),
  )
  return Object.fromEntries([
    ...own.toSorted().map((path) => [path, join(bundle, path)]),
    ...installed.toSorted().map((path) => [path, join(root, path)]),
  ])
}

const licenseOf = (name) => readFileSync(join(root, 'node_modules', name, 'LICENSE'), 'utf8')

/** The licenses of everything that the executable contains, in one text. */
function licensesOf(bundle) {
  const texts = [...packages, nodePackage].map((name) => `${name}\n${'='.repeat(name.length)}\n\n${licenseOf(name)}`)
  return [readFileSync(join(bundle, 'third-party-licenses.txt'), 'utf8'), ...texts].join('\n')
}

/** In an executable all packages are bundled, and Node.js, too. */
function billOf(bundle) {
  const { components } = json(join(bundle, 'sbom.cdx.json'))
  const names = components.map(({ group, name }) => (group === undefined ? name : `${group}/${name}`))
  return sbom({ fields, lock, bundled: [...names, nodePackage].toSorted(), installed: [] })
}

/** Writes the executable; returns the licenses and the bill of materials of what is in it. */
export async function makeExecutable(file) {
  const pinned = lock.packages[`node_modules/${nodePackage}`]?.version
  if (process.versions.node !== pinned)
    throw new Error(`executables contain Node.js ${pinned}; run this script on it, not on ${process.versions.node}`)
  const work = mkdtempSync(join(tmpdir(), 'coxswain-executable-'))
  try {
    const bundle = join(work, 'bundle')
    execFileSync(process.execPath, [join(root, 'scripts', 'bundle.mjs'), bundle], { stdio: 'inherit' })
    for (const name of globSync('*.mjs', { cwd: bundle })) rmSync(join(bundle, name))
    await bundleThreads(bundle)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(join(work, 'main.cjs'), executableText)
    const config = {
      main: 'main.cjs',
      output: file,
      disableExperimentalSEAWarning: true,
      useVfs: true,
      execArgv: [
        ...readFileSync(join(root, 'bin', 'server-flags'), 'utf8')
          .trim()
          .split(' '),
        '--disable-warning=ExperimentalWarning',
      ],
      assets: assetsOf(bundle),
    }
    writeFileSync(join(work, 'executable.json'), JSON.stringify(config))
    // In the folder of its files: the executable contains the name of its main script, which has no path of this machine then.
    execFileSync(process.execPath, ['--build-sea', 'executable.json'], { cwd: work, stdio: 'pipe' })
    return { licenses: licensesOf(bundle), bill: billOf(bundle) }
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [, , file] = process.argv
  if (file === undefined) {
    console.error('usage: node scripts/executable.mjs <file>')
    process.exitCode = 2
  } else await makeExecutable(resolve(file))
}
