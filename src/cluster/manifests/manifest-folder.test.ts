// The folder of manifests of clusters in virtual time.
import { deepEqual, equal, match, ok } from 'node:assert/strict'
import { chmod, mkdir, mkdtemp, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { context } from '../../base/observability/context.ts'
import { createLog } from '../../base/observability/log.ts'
import { Metrics } from '../../base/observability/metrics.ts'
import { seededRandom } from '../../base/random/random.ts'
import { VirtualClock } from '../../base/time/virtual-clock.ts'
import { configMap } from '../../api/core/v1/config-map.ts'
import { event } from '../../api/core/v1/event.ts'
import { namespace } from '../../api/core/v1/namespace.ts'
import { bareKind } from '../../api/kind/bare-kind.ts'
import { nodePlatform } from '../../platform/node/platform.ts'
import { MemoryStore } from '../../store/memory-store.ts'
import { temporaryCertificates } from '../certificates/cluster-certificates.ts'
import { adminUser } from '../client/component-users.ts'
import { buildRequestPolicies } from '../policy/request-policies.ts'
import { Cluster } from '../run/cluster.ts'
import { applySetId } from './apply-set.ts'

const home = await mkdtemp(join(tmpdir(), 'coxswain-manifests-'))
after(() => rm(home, { recursive: true, force: true }))
const ctx = context(new AbortController().signal)
const member = 'applyset.kubernetes.io/part-of'

const map = (name: string, value = 'x', place?: string) =>
  `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}${place === undefined ? '' : `, namespace: ${place}`}}\ndata: {value: ${value}}\n`

class SharedStore extends MemoryStore {
  override close(): Promise<void> {
    return Promise.resolve()
  }
}

async function start({ folder = '', server = 'a', clock = new VirtualClock(), store = new SharedStore(clock) } = {}) {
  const chosen = folder || (await mkdtemp(join(home, 'f-')))
  const lines: string[] = []
  const log = createLog({
    clock,
    write: (line) => lines.push(line.replaceAll('\\"', '"')),
    format: 'text',
    level: 'info',
  })
  const options = { clock, random: seededRandom(1), log, nodes: 0 }
  const certificates = temporaryCertificates({ ...options, platform: nodePlatform, hosts: [] })
  const { policies } = buildRequestPolicies({ ...options, ...certificates, platform: nodePlatform })
  const controllerSettings = { certificateAuthority: () => certificates.authority }
  const metrics = new Metrics()
  const manifests = { folder: chosen, server }
  const cluster = new Cluster({ ...options, controllerSettings, metrics, policies, store, manifests })
  cluster.start()
  await clock.settle()
  await cluster.ready
  const client = cluster.client('test', adminUser)
  return {
    cluster,
    client,
    clock,
    store,
    lines,
    folder: chosen,
    write: (name: string, ...documents: readonly string[]) => writeFile(join(chosen, name), documents.join('---\n')),
    remove: (name: string) => rm(join(chosen, name)),
    pass: (time = '6s') => clock.advance(time),
    /** The names of ConfigMaps that a manifest contains, with their values. */
    async maps(place = 'default') {
      const { items } = await client.of(configMap).list({ namespace: place, labelSelector: member }, ctx)
      return items.map(({ metadata: { name }, data }) => `${name}=${data?.['value']}`)
    },
    states: () =>
      metrics
        .text()
        .split('\n')
        .filter((line) => line.startsWith('coxswain_manifest_files')),
    async [Symbol.asyncDispose]() {
      const stopped = cluster.stop()
      await clock.settle()
      await stopped
    },
  }
}

test('files are applied when they appear and when they change; what they no longer contain is deleted', async () => {
  await using it = await start()
  await it.write('b.yaml', map('one'), map('two'))
  await mkdir(join(it.folder, 'inner'), { mode: 0o700 })
  await it.write('inner/c.json', JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'three' } }))
  await it.write('notes.txt', 'nothing to apply')
  await it.write('.hidden.yaml', map('hidden'))
  await it.pass()
  deepEqual(await it.maps(), ['one=x', 'three=undefined', 'two=x'])
  deepEqual(it.states(), ['coxswain_manifest_files{state="applied"} 2', 'coxswain_manifest_files{state="failed"} 0'])
  await it.write('b.yaml', map('two', 'changed'))
  await it.pass()
  deepEqual(await it.maps(), ['three=undefined', 'two=changed'])
  await it.remove('b.yaml')
  await it.pass()
  deepEqual(await it.maps(), ['three=undefined'])
  const { items } = await it.client
    .of(configMap)
    .list({ namespace: 'kube-system', labelSelector: 'coxswain.dev/manifests-of=a' }, ctx)
  deepEqual(
    items.map(({ metadata: { annotations } }) => annotations?.['coxswain.dev/manifest']),
    ['inner/c.json'],
  )
})

test('namespaces and definitions are applied before what needs them, in whatever order the file has them', async () => {
  await using it = await start()
  await it.write(
    'app.yaml',
    'apiVersion: shop.test/v1\nkind: Gear\nmetadata: {name: g, namespace: shop}\nspec: {teeth: 12}\n',
    map('settings', 'x', 'shop'),
    'apiVersion: v1\nkind: Namespace\nmetadata: {name: shop}\n',
    `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: gears.shop.test}
spec:
  group: shop.test
  scope: Namespaced
  names: {plural: gears, singular: gear, kind: Gear, listKind: GearList}
  versions:
    - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {teeth: {type: integer}}}}}}}
`,
  )
  await it.pass()
  const gear = bareKind({
    group: 'shop.test',
    version: 'v1',
    kind: 'Gear',
    plural: 'gears',
    singular: 'gear',
    namespaced: true,
  })
  const { metadata } = await it.client.of(gear).get('g', 'shop', ctx)
  deepEqual(await it.maps('shop'), ['settings=x'])
  const [parent] = (
    await it.client.of(configMap).list({ namespace: 'kube-system', labelSelector: 'applyset.kubernetes.io/id' }, ctx)
  ).items
  ok(parent !== undefined)
  equal(metadata.labels?.[member], applySetId(parent.metadata.name))
  equal(parent.metadata.labels?.['applyset.kubernetes.io/id'], applySetId(parent.metadata.name))
  const { annotations = {} } = parent.metadata
  equal(
    annotations['applyset.kubernetes.io/contains-group-kinds'],
    'ConfigMap,CustomResourceDefinition.apiextensions.k8s.io,Gear.shop.test,Namespace',
  )
  equal(annotations['applyset.kubernetes.io/additional-namespaces'], 'default,shop')
  await it.remove('app.yaml')
  await it.pass('1m')
  equal(await it.client.of(namespace).find('shop', ctx), undefined)
})

const faulty: readonly (readonly [name: string, text: string, problem: RegExp])[] = [
  ['YAML with an error', 'a: [', /./],
  ['no kind', 'apiVersion: v1\nmetadata: {name: x}\n', /a manifest needs an apiVersion and a kind/],
  ['no name', 'apiVersion: v1\nkind: ConfigMap\n', /an object of the kind ConfigMap has no metadata.name/],
  ['an object twice', `${map('x')}---\n${map('x')}`, /ConfigMap x is in it twice/],
  ['an object of another file', map('good'), /ConfigMap good is in a-good.yaml, too/],
  [
    'an unknown kind',
    'apiVersion: v1\nkind: Pot\nmetadata: {name: x}\n',
    /Pot x: no matches for kind "Pot" in version "v1"/,
  ],
  ['an unknown field', `${map('x')}dota: 1\n`, /ConfigMap x: .*unknown field|field not declared/],
  ['a namespace that does not exist', map('x', 'x', 'nowhere'), /ConfigMap nowhere\/x: namespaces "nowhere" not found/],
  ['no text', '\ufffd', /./],
]
for (const [name, text, problem] of faulty)
  test(`a file is reported and repeated, and others are applied: ${name}`, async () => {
    await using it = await start()
    await it.write('a-good.yaml', map('good'))
    if (name === 'no text') await writeFile(join(it.folder, 'bad.yaml'), new Uint8Array([0xff, 0xfe, 0xff]))
    else await it.write('bad.yaml', text)
    await it.pass()
    deepEqual(await it.maps(), ['good=x'])
    match(it.lines.find((line) => line.includes('a manifest cannot be applied')) ?? '', problem)
    deepEqual(it.states(), ['coxswain_manifest_files{state="applied"} 1', 'coxswain_manifest_files{state="failed"} 1'])
    const { items } = await it.client.of(event).list({ namespace: 'kube-system' }, ctx)
    const [failure] = items.filter(({ reason }) => reason === 'ApplyFailed')
    match(failure?.message ?? '', problem)
    match(failure?.involvedObject.name ?? '', /^manifest-bad-yaml-/)
    await it.write('bad.yaml', map('repaired'))
    await it.pass()
    deepEqual(await it.maps(), ['good=x', 'repaired=x'])
  })

test('an object that fails deletes nothing, and is tried again until it can be applied', async () => {
  await using it = await start()
  await it.write('a.yaml', map('old'))
  await it.pass()
  await it.write('a.yaml', map('new'), map('late', 'x', 'later'))
  await it.pass()
  deepEqual(await it.maps(), ['new=x', 'old=x'])
  await it.client.of(namespace).create({ metadata: { name: 'later' } }, ctx)
  await it.pass('2m')
  deepEqual([await it.maps(), await it.maps('later')], [['new=x'], ['late=x']])
})

test('a folder that others can write, that is missing or that is unreadable changes nothing', async () => {
  await using it = await start()
  await it.write('a.yaml', map('one'))
  await it.pass()
  await chmod(it.folder, 0o777)
  await it.write('b.yaml', map('two'))
  await it.pass()
  match(it.lines.at(-1) ?? '', /the folder of manifests cannot be applied.*can be written by others.*chmod go-w/)
  await rename(it.folder, `${it.folder}-away`)
  await it.pass('1m')
  deepEqual(await it.maps(), ['one=x'])
  await chmod(`${it.folder}-away`, 0o700)
  await rename(`${it.folder}-away`, it.folder)
  await chmod(join(it.folder, 'b.yaml'), 0o666)
  await it.pass()
  match(it.lines.at(-1) ?? '', /a manifest cannot be applied.*b.yaml can be written by others/)
  deepEqual(await it.maps(), ['one=x'])
})

test('a link leads to a file, as those of mounted ConfigMaps do, and not to a folder', async () => {
  await using it = await start()
  await mkdir(join(it.folder, '..data'))
  await it.write('..data/a.yaml', map('linked'))
  await symlink('..data/a.yaml', join(it.folder, 'a.yaml'))
  await symlink('.', join(it.folder, 'loop'))
  await it.pass()
  deepEqual(await it.maps(), ['linked=x'])
})

test('after a restart nothing is lost; the files of other machines are left alone', async () => {
  const clock = new VirtualClock()
  const store = new SharedStore(clock)
  const folder = await mkdtemp(join(home, 'f-'))
  {
    await using first = await start({ clock, store, folder })
    await first.write('a.yaml', map('kept'))
    await first.write('b.yaml', map('removed'))
    await first.pass()
  }
  await rm(join(folder, 'b.yaml'))
  {
    await using second = await start({ clock, store, server: 'b' })
    await second.write('c.yaml', map('other'))
    await second.pass()
    deepEqual(await second.maps(), ['kept=x', 'other=x', 'removed=x'])
  }
  await using third = await start({ clock, store, folder })
  await third.pass()
  deepEqual(await third.maps(), ['kept=x', 'other=x'])
})
