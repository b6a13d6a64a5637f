// Writes the types of the library as one file: `node scripts/types/types.mjs <folder>`. The same text is written twice,
// because a declaration file is either ESM or CommonJS.
import { execFileSync } from 'node:child_process'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { objectMeta } from '../../src/api/meta/v1/object-meta.ts'
import { status } from '../../src/api/meta/v1/status.ts'
import { kinds } from '../../src/api/kinds.ts'
import * as library from '../../src/cluster/index.ts'
import { controllerNames } from '../controller-entry.mjs'
import { kindTypes } from './kind-types.mjs'
import { rollUp } from './roll-up.mjs'

const root = fileURLToPath(new URL('../..', import.meta.url))
const target = resolve(process.argv[2] ?? join(root, 'dist'))
const folder = join(root, '.cache', `types.${process.pid}`)

const head = `// The types of coxswain.
/// <reference lib="esnext.disposable" />

/** The platform's AbortSignal, where its types are loaded. */
type Signal = typeof globalThis extends { AbortSignal: { prototype: infer T } } ? T : SignalLike
interface SignalLike {
  readonly aborted: boolean
  readonly reason: unknown
  addEventListener(type: 'abort', listener: () => void): void
  removeEventListener(type: 'abort', listener: () => void): void
}
`

const exported = Object.entries(library).filter(([, value]) => kinds.includes(value))
const kindNames = new Set(exported.flatMap(([constant, { kind }]) => [constant, kind, `${kind}Input`]))

const metaNames = new Set(['ObjectMeta', 'ObjectMetaInput', 'Status'])

/** Types of the API are generated from the schema, with the names that they have in the sources. */
const replaced = (module, name) =>
  metaNames.has(name) || (module.startsWith('api/') && kindNames.has(name)) ? name : undefined

try {
  const tsc = join(root, 'node_modules', '.bin', 'tsc')
  execFileSync(tsc, ['-p', join(root, 'scripts', 'tsconfig.types.json'), '--outDir', folder], { stdio: 'inherit' })
  const { text: kindText, names } = kindTypes(exported, objectMeta, [status])
  const taken = [...names, 'Signal', 'SignalLike']
  const entry = 'cluster/index.d.ts'
  const rolled = rollUp({ folder, entry, replaced, globals: { AbortSignal: 'Signal' }, taken })
  const text = [head, rolled, kindText, 'export {}\n'].join('\n')
  mkdirSync(target, { recursive: true })
  const controllerText = `export { ${[...controllerNames.values, ...controllerNames.types.map((name) => `type ${name}`)].join(', ')} } from './index.`
  for (const [extension, imported] of Object.entries({ 'd.ts': 'js', 'd.cts': 'cjs' })) {
    writeFileSync(join(target, `index.${extension}`), text)
    writeFileSync(join(target, `controller.${extension}`), `${controllerText}${imported}'\n`)
  }
} finally {
  rmSync(folder, { recursive: true, force: true })
}
