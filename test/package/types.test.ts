// The types of the package as its users see them: in ESM and CommonJS, without the types of browsers and of Node.js,
// under their own names, and equal to those that the sources derive from the schema.
import { deepEqual, equal, match, ok } from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { copyFile, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { kinds } from '../../src/api/kinds.ts'
import * as library from '../../src/cluster/index.ts'
import { observation } from '../custom-resources/definitions/observatory.ts'
import { customResourceExamples } from '../custom-resources/page.ts'
import { serviceExamples } from '../services/page.ts'

/** A program of a few thousand lines has about as many. */
const instantiationsMax = 100_000
const root = fileURLToPath(new URL('../..', import.meta.url))
const tsc = join(root, 'node_modules', '.bin', 'tsc')
let folder = ''
let dist = ''

const strict = ['--ignoreConfig', '--noEmit', '--strict', '--exactOptionalPropertyTypes', '--module', 'nodenext']
const plain = [...strict, '--target', 'es2024', '--lib', 'es2024', '--types', '', '--skipLibCheck', 'false']

/** The diagnostics of the compiler for a program. */
const compiled = (name: string, text: string, options: readonly string[] = plain) =>
  writeFile(join(folder, name), text).then(
    () =>
      new Promise<string>((resolve) =>
        execFile(tsc, [...options, name], { cwd: folder, maxBuffer: 1 << 24 }, (_, stdout) => resolve(stdout)),
      ),
  )

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'coxswain-types-'))
  const installed = join(folder, 'node_modules', 'coxswain')
  dist = join(installed, 'dist')
  await mkdir(installed, { recursive: true })
  await copyFile(join(root, 'package.json'), join(installed, 'package.json'))
  await new Promise<void>((resolve, reject) =>
    execFile(process.execPath, [join(root, 'scripts', 'types', 'types.mjs'), dist], (error, out, err) =>
      error === null ? resolve() : reject(new Error(`${out}${err}`, { cause: error })),
    ),
  )
  await symlink(root, join(folder, 'sources'))
})

after(() => rm(folder, { recursive: true, force: true }))

const use = `
const cluster = await startCluster({ nodes: 2, simulation: { images: { a: async ({ terminated }) => terminated.aborted ? 1 : 0 } } })
const found: Pod = await cluster.client.of(pod).get('a')
export const phase: 'Pending' | 'Running' | 'Succeeded' | 'Failed' | 'Unknown' | undefined = found.status.phase
const input: PodInput = { metadata: { name: 'x' }, spec: { containers: [{ name: 'c' }] } }
await cluster.client.of(pod).create(input)
export const kinds: readonly Kind[] = [pod, deployment, namespace]
export const web: Deployment = await cluster.client.of(deployment).modify('web', (copy) => { copy.spec.replicas = 3 })
await cluster.client.of(namespace).delete('x')
for await (const event of cluster.client.of(pod).watch())
  if (event.type !== 'BOOKMARK') event.object.spec.containers[0]?.image?.length
await cluster.apply('kind: List', { force: true })
const { exitCode, stdout } = await cluster.exec('a', ['ls'], { container: 'c' })
export const texts: string = exitCode + stdout + await cluster.logs('a') + await cluster.why(pod, 'a') + cluster.flow(found)
// @ts-expect-error -- what is received is read-only
web.spec.replicas = 4
// @ts-expect-error -- there is no such field
await cluster.client.of(pod).create({ metadata: {}, spec: { containerz: [] } })
const widget = customResource({
  metadata: { name: 'widgets.example.com' },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { plural: 'widgets', kind: 'Widget' },
    versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object', required: ['spec'], properties: {
      spec: { type: 'object', required: ['size'], properties: { size: { type: 'integer' }, mode: { type: 'string', enum: ['a', 'b'], default: 'a' } } },
    } } } }],
  },
})
export const custom = await startCluster({ crds: [widget, 'crds/', widget.definition, { href: 'file:///crds.yaml' }] })
const one = await custom.client.of(widget).create({ metadata: { name: 'x' }, spec: { size: 1 } })
export const mode: 'a' | 'b' = one.spec.mode
export const sent: KindInput<typeof widget> = { metadata: {}, spec: { size: 1, mode: 'b' } }
export const told2: string = await custom.why(widget, 'x') + custom.flow(one)
// @ts-expect-error -- a required field is missing
await custom.client.of(widget).create({ metadata: {}, spec: {} })
// @ts-expect-error -- there is no such value
await custom.client.of(widget).modify('x', (copy) => { copy.spec.mode = 'c' })
export const gadget = customResource<{ spec: { teeth: number } }>({ group: 'example.com', version: 'v1', kind: 'Gear', plural: 'gears' })
export const teeth: number = (await custom.client.of(gadget).get('a')).spec.teeth
await cluster.stop()
const connection: Connection = await connect('/config', { context: 'a', name: 'operator' })
for (const { client, clock } of [cluster, connection] satisfies Pick<Connection, 'client' | 'clock'>[])
  clock.after((await client.of(pod).list()).items.length, () => {}).cancel()
// @ts-expect-error -- there is no such option
await connect('/config', { contexts: 'a' })
await connection.close()
`
const names = 'connect, customResource, deployment, namespace, pod, startCluster'
const typeNames = 'type Connection, type Deployment, type Kind, type KindInput, type Pod, type PodInput'

test('ESM: without lib DOM, without @types/node, with library files checked', async () => {
  equal(await compiled('use.mts', `import { ${names}, ${typeNames} } from 'coxswain'\n${use}`), '')
})

test('CommonJS: require and import of types', async () => {
  const text = `import { ${names}, ${typeNames} } from 'coxswain'
    import library = require('coxswain')
    export const same: typeof library.pod = pod
    export async function run() {${use.replaceAll('export ', '')}}`
  equal(await compiled('use.cts', text), '')
})

test('with lib DOM a signal is the platform’s', async () => {
  const text = `import { context } from 'coxswain'
    export const ctx = context(new AbortController().signal)
    export const signal: AbortSignal = ctx.signal`
  equal(await compiled('dom.mts', text, [...plain, '--lib', 'es2024,dom']), '')
})

test('messages and editors show types by their names', async () => {
  const text = `import { pod, startCluster } from 'coxswain'
    const cluster = await startCluster()
    const found = await cluster.client.of(pod).get('a')
    export const [a, b, c, d]: number[] = [found, found.spec, found.spec.containers, found.status.conditions?.[0]?.status]
    export const e: number = found.spec
    export const f: number = cluster.client.of(pod)`
  const diagnostics = await compiled('names.mts', text)
  match(diagnostics, /Type 'PodSpec' is not assignable to type 'number'/)
  match(diagnostics, /Type 'Pod' is not assignable to type 'number'/)
  match(diagnostics, /Type 'readonly Container\[\]' is not assignable to type 'number'/)
  match(diagnostics, /Type 'ResourceClient<Pod, PodInput>' is not assignable to type 'number'/)
})

for (const name of ['operator', 'shop'])
  test(`the example ${name} passes the type checker`, async () => {
    const example = join(root, 'examples', name)
    const files = (await readdir(example)).filter((file) => file.endsWith('.cjs'))
    await Promise.all(files.map((file) => copyFile(join(example, file), join(folder, file))))
    const options = ['--target', 'esnext', '--lib', 'esnext,dom', '--allowJs', '--checkJs', '--types', 'node']
    const roots = ['--typeRoots', join(root, 'node_modules', '@types')]
    const main = files.includes('main.cjs') ? `import './main.cjs'\n` : ''
    equal(
      await compiled('example.mts', `${main}export { scenario } from './scenario.cjs'`, [
        ...strict,
        ...options,
        ...roots,
      ]),
      '',
    )
  })

/** The work of the compiler, which does not depend on the speed of the machine. */
const instantiationsOf = async (name: string, text: string): Promise<number> => {
  const said = await compiled(name, text, [...plain, '--extendedDiagnostics'])
  equal(/error TS/.test(said), false, said)
  return Number(/^Instantiations:\s+(\d+)$/m.exec(said)?.[1])
}

test('the types of a large definition take the compiler little work', async () => {
  const baseline = await instantiationsOf(
    'none.mts',
    `import { customResource } from 'coxswain'\nexport { customResource }`,
  )
  const text = `import { customResource, type KindInput, type KindObject, type Mutable } from 'coxswain'
    const observation = customResource(${JSON.stringify(observation)})
    type Observation = KindObject<typeof observation>
    export const names = (of: Observation): readonly (string | undefined)[] => [of.spec?.telescope?.borrowed?.camera, of.status?.frames?.[0]?.container]
    export const input: KindInput<typeof observation> = { metadata: {}, spec: { deadline: '1h', turned: [{ dial: 'a', to: { any: 1 } }] } }
    export const whole = (of: Mutable<Observation>): Observation => of
    // @ts-expect-error -- there is no such field
    export const wrong = (of: Observation): unknown => of.spec?.telescop`
  const work = (await instantiationsOf('large.mts', text)) - baseline
  ok(work > 0 && work < instantiationsMax, `${work} instantiations`)
})

test('the examples of the page about custom resources pass the type checker', async () => {
  const page = await readFile(join(root, 'docs', 'testing-operators.md'), 'utf8')
  const text = `${customResourceExamples(page)}\nexport const count: number = teeth`
  equal(await compiled('page.mts', text, [...plain, '--lib', 'es2024,dom']), '')
})

test('the examples of the page about services pass the type checker', async () => {
  const page = await readFile(join(root, 'docs', 'testing-services.md'), 'utf8')
  equal(await compiled('services.mts', `${serviceExamples(page)}\nexport {}`, [...plain, '--lib', 'es2024,dom']), '')
})

test('the package has one file of types for each module system, and no derived types in it', async () => {
  deepEqual((await readdir(dist)).toSorted(), ['controller.d.cts', 'controller.d.ts', 'index.d.cts', 'index.d.ts'])
  const text = await readFile(join(dist, 'index.d.ts'), 'utf8')
  for (const inner of ['Infer<', 'Message<', 'import(', 'ObjectOf<']) ok(!text.includes(inner), inner)
})

const exported = Object.entries(library).flatMap(([constant, value]) => {
  const kind = kinds.find((each) => each === value)
  if (kind === undefined) return []
  // Another version of a kind has the name of its constant.
  const isPlain = constant.toLowerCase() === kind.kind.toLowerCase()
  return [{ constant, name: isPlain ? kind.kind : `${constant.slice(0, 1).toUpperCase()}${constant.slice(1)}` }]
})

test('the generated types of all kinds equal those that the sources derive', async () => {
  const text = `import * as Written from 'coxswain'
    import * as Derived from './sources/src/cluster/index.ts'
    type Same<A, B> = [A] extends [B] ? ([B] extends [A] ? true : false) : false
    ${exported
      .flatMap(({ name }) => [name, `${name}Input`])
      .map((name) => `export const is${name}: Same<Written.${name}, Derived.${name}> = true`)
      .join('\n')}
    export const objectMeta: Same<Written.ApiObject, Derived.ApiObject> = true`
  const options = ['--target', 'esnext', '--lib', 'esnext,dom,dom.iterable', '--types', 'node', '--skipLibCheck']
  const roots = ['--typeRoots', join(root, 'node_modules', '@types'), '--allowImportingTsExtensions']
  equal(await compiled('equal.mts', text, [...strict, ...options, ...roots]), '')
})
