// docs/extending.md is followed literally: its examples are applied to a copy of the source tree, and each unit is served
// or used. Afterwards they are removed again, and the copy equals the tree.
import { deepEqual, equal, match, ok, rejects } from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { globSync } from 'node:fs'
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, before, test } from 'node:test'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import type * as Index from '../../src/cluster/index.ts'
import type * as Discovery from '../../src/client/discovery.ts'
import type * as SimulatedDiskFile from '../../src/machine/disk/simulated-disk.ts'
import type * as VolumeManagerFile from '../../src/kubelet/volumes/volume-manager.ts'
import { rules } from '../tidy/rules.ts'
import { readSourceFile, type SourceFile } from '../tidy/source-file.ts'
import { changesOf, withInsertedLines } from './page.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const changes = changesOf(await readFile(join(root, 'docs/extending.md'), 'utf8'))
const run = promisify(execFile)

/** The kind of the page's example; its types exist in the copy only. */
interface Widget extends Index.ApiObject {
  readonly label?: string
}
type ExtendedIndex = typeof Index & { readonly widget: Index.Kind<Widget, object> }

let copy = ''
let index: ExtendedIndex

const load = async (path: string): Promise<unknown> => import(pathToFileURL(join(copy, path)).href)

async function apply(): Promise<void> {
  for (const change of changes) {
    const path = join(copy, change.path)
    await mkdir(dirname(path), { recursive: true })
    const text =
      change.kind === 'new' ? change.text : withInsertedLines(change.path, await readFile(path, 'utf8'), change.lines)
    await writeFile(path, text)
  }
}

async function remove(): Promise<void> {
  for (const change of changes) {
    if (change.kind === 'new') await rm(join(copy, change.path))
    else await cp(join(root, change.path), join(copy, change.path))
  }
}

const changing = new Set(changes.map(({ path }) => path))
/** The sources that the page does not change, which are parsed once. */
const unchanging = new Map<string, SourceFile>()

function sourceFile(path: string): SourceFile {
  const file = unchanging.get(path) ?? readSourceFile(copy, path)
  if (!changing.has(path)) unchanging.set(path, file)
  return file
}

const unlisted = (): string[] =>
  rules['unitsAreListed']?.(
    globSync('src/**/*.ts', { cwd: copy, exclude: ['**/*.test.ts'] }).map((path) => sourceFile(path)),
  ) ?? []

before(async () => {
  copy = await mkdtemp(join(tmpdir(), 'coxswain-extending-'))
  for (const name of ['src', 'package.json']) await cp(join(root, name), join(copy, name), { recursive: true })
  const tsconfig = {
    extends: join(root, 'tsconfig.json'),
    // The file would be that of the checkout.
    compilerOptions: { incremental: false, tsBuildInfoFile: null },
    include: ['src'],
    exclude: ['src/**/*.test.ts'],
  }
  await writeFile(join(copy, 'tsconfig.json'), JSON.stringify(tsconfig))
  await symlink(join(root, 'node_modules'), join(copy, 'node_modules'))
  await apply()
  index = (await load('src/cluster/index.ts')) as ExtendedIndex
})
after(() => rm(copy, { recursive: true, force: true }))

test('the page has an example of each unit', () => {
  const files = changes.filter(({ kind }) => kind === 'new').map(({ path }) => path)
  const folders = ['api', 'apiserver/admission/plugins', 'cli/commands', 'controllers', 'kubelet/volumes/types']
  for (const folder of [...folders, 'scheduler/plugins'])
    ok(
      files.some((path) => path.startsWith(`src/${folder}/`)),
      `src/${folder}`,
    )
})

test('the examples pass the type checker', async () => {
  const tsc = join(root, 'node_modules/.bin/tsc')
  const { stdout } = await run(process.execPath, [tsc, '--noEmit', '-p', copy]).catch(
    (error: { stdout: string }) => error,
  )
  equal(stdout, '')
})

test('each unit is in its list, and a unit without its line is reported', async () => {
  deepEqual(unlisted(), [])
  for (const { kind, path } of changes) if (kind === 'insert') await cp(join(root, path), join(copy, path))
  equal(unlisted().length, 6)
  await remove()
  await apply()
})

test('the kind is served, its defaults, validation and admission plugin are applied, its controller acts', async () => {
  await using cluster = await index.startCluster()
  const widgets = cluster.client.of(index.widget)
  const { label } = await widgets.create({ metadata: { name: 'one' }, label: 'red' })
  equal(label, 'Red', 'the admission plugin changes it')
  await rejects(() => widgets.create({ metadata: { name: 'two' } }), /label: Required value/)
  await rejects(
    () => widgets.create({ metadata: { name: 'two' }, label: 'forbidden' }),
    /widgets\.example\.dev "two" is forbidden: the label is not allowed/,
  )
  await cluster.clock.advance('2s')
  const map = await cluster.client.of(index.configMap).get('one')
  deepEqual(map.data, { label: 'Red' }, 'the controller creates it')
  equal(map.metadata.ownerReferences?.[0]?.kind, 'Widget')
  const { discover } = (await load('src/client/discovery.ts')) as typeof Discovery
  const context = index.context(new AbortController().signal)
  const served = (await discover(cluster.client as never, context)).kinds.find(({ kind }) => kind.plural === 'widgets')
  deepEqual([served?.kind.group, served?.kind.version, served?.kind.namespaced], ['example.dev', 'v1', true])
})

test('the scheduler plugin rejects nodes, and its events bring a pod back', async () => {
  await using cluster = await index.startCluster()
  const pods = cluster.client.of(index.pod)
  await pods.create({
    metadata: { name: 'picky', labels: { widget: 'yes' } },
    spec: { containers: [{ name: 'c', image: 'i' }] },
  })
  await cluster.clock.advance('2s')
  const condition = (await pods.get('picky')).status.conditions?.find(({ type }) => type === 'PodScheduled')
  match(condition?.message ?? '', /0\/1 nodes are available: 1 node\(s\) had no widget/)
  await cluster.client.of(index.node).patch('node-0', '', { metadata: { labels: { widget: 'yes' } } }, 'merge')
  await cluster.clock.advance('20s')
  equal((await pods.get('picky')).status.phase, 'Running')
})

test('the volume type mounts its volumes', async () => {
  const { SimulatedDisk } = (await load('src/machine/disk/simulated-disk.ts')) as typeof SimulatedDiskFile
  const { VolumeManager } = (await load('src/kubelet/volumes/volume-manager.ts')) as typeof VolumeManagerFile
  const disk = new SimulatedDisk()
  await disk.makeDirectory('/ceph/data', 0o755)
  const manager = new VolumeManager({
    disk,
    sources: {} as never,
    paths: { root: '/kubelet', logs: '/logs' } as never,
    node: {} as never,
  })
  const volumes = [{ name: 'data', cephfs: { monitors: ['server'], path: '/data', readOnly: true } }]
  const pod = { metadata: { name: 'p', uid: 'u' }, spec: { containers: [], volumes } }
  const mounted = await manager.mount(pod as never, new Map(), index.context(new AbortController().signal))
  deepEqual([...mounted], [['data', { path: '/ceph/data', readOnly: true }]])
})

test('the command runs', async () => {
  const main = join(copy, 'src/cli/main.ts')
  const { stdout } = await run(process.execPath, [main, 'widget', 'hello', '--loud'])
  equal(stdout, 'HELLO\n')
  match((await run(process.execPath, [main, 'help'])).stdout, /widget +prints the label of a widget/)
})

test('without the examples the copy equals the tree', async () => {
  await remove()
  const filesIn = (directory: string) => globSync('src/**/*.ts', { cwd: directory }).toSorted()
  deepEqual(filesIn(copy), filesIn(root))
  for (const { kind, path } of changes)
    if (kind === 'insert') equal(await readFile(join(copy, path), 'utf8'), await readFile(join(root, path), 'utf8'))
})
