// Custom resources in a test's cluster: definitions at the start and in manifests, and kinds of them wherever a test names
// a kind.
import { deepEqual, equal, match, rejects } from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { context, customResource, customResourceDefinition, startCluster, StatusError } from '../index.ts'

const spec = {
  type: 'object',
  required: ['size'],
  properties: {
    size: { type: 'integer', minimum: 1 },
    mode: { type: 'string', enum: ['fast', 'safe'], default: 'safe' },
  },
} as const
const status = { type: 'object', properties: { ready: { type: 'boolean' } } } as const

const widget = customResource({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'widgets.example.com' },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { plural: 'widgets', kind: 'Widget' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        subresources: { status: {} },
        schema: { openAPIV3Schema: { type: 'object', required: ['spec'], properties: { spec, status } } },
      },
    ],
  },
})

const yamlOf = (plural: string, kind: string, more = 'scope: Cluster'): string => `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: { name: ${plural}.example.com }
spec:
  group: example.com
  ${more}
  names: { plural: ${plural}, kind: ${kind} }
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties: { spec: { type: object, x-kubernetes-preserve-unknown-fields: true } }
`

let folder = ''
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'coxswain-crds-'))
})
after(() => rm(folder, { recursive: true, force: true }))

const written = async (name: string, text: string): Promise<string> => {
  const path = join(folder, name)
  await writeFile(path, text)
  return path
}

test('definitions are established and served when startCluster resolves, and time has not passed', async () => {
  const several = await written('several.yaml', `---\n# none\n---${yamlOf('gears', 'Gear')}---${yamlOf('cogs', 'Cog')}`)
  const json = await written('nut.json', JSON.stringify({ ...widget.definition, ...named('nuts', 'Nut') }))
  const startedMs = (await startCluster({ nodes: 0 }).then((plain) => plain.stop().then(() => plain))).clock.nowMs()
  await using cluster = await startCluster({ nodes: 0, crds: [widget, several, pathToFileURL(json)] })
  equal(cluster.clock.nowMs(), startedMs)
  const definitions = (await cluster.client.of(customResourceDefinition).list()).items
  deepEqual(
    definitions.map(({ metadata }) => metadata.name),
    ['cogs.example.com', 'gears.example.com', 'nuts.example.com', 'widgets.example.com'],
  )
  for (const [kind, plural] of [
    ['Cog', 'cogs'],
    ['Nut', 'nuts'],
  ] as const) {
    const names = { group: 'example.com', version: 'v1', kind, plural, namespaced: plural !== 'cogs' }
    const made = await cluster.client.of(customResource(names)).create({ metadata: { name: 'a' }, spec: { size: 2 } })
    equal(made.kind, kind)
  }
})

const named = (plural: string, kind: string) => ({
  metadata: { name: `${plural}.example.com` },
  spec: { ...widget.definition.spec, names: { plural, kind } },
})

test('a folder of files is read', async () => {
  const bases = await mkdtemp(join(folder, 'bases-'))
  await writeFile(join(bases, 'gears.yaml'), yamlOf('gears', 'Gear'))
  await writeFile(join(bases, 'cogs.yml'), yamlOf('cogs', 'Cog'))
  await writeFile(join(bases, 'README.md'), '# not a definition')
  await using cluster = await startCluster({ nodes: 0, crds: [bases] })
  equal((await cluster.client.of(customResourceDefinition).list()).items.length, 2)
})

const invalid: [what: string, crds: () => Promise<readonly unknown[]>, message: RegExp][] = [
  [
    'an invalid field of a document',
    async () => [
      widget,
      await written('invalid.yaml', `${yamlOf('gears', 'Gear')}---${yamlOf('cogs', 'Cog', 'scope: Everywhere')}`),
    ],
    /^crds\[1\], \/.*\/invalid\.yaml, document 2: CustomResourceDefinition\.apiextensions\.k8s\.io "cogs\.example\.com" is invalid: spec\.scope: Unsupported value: "Everywhere"/,
  ],
  [
    'a misspelt field',
    async () => [await written('misspelt.yaml', yamlOf('gears', 'Gear', 'scop: Cluster\n  scope: Cluster'))],
    /^crds\[0\], \/.*\/misspelt\.yaml: .*unknown field "spec\.scop"/,
  ],
  [
    'another kind',
    async () => [await written('other.yaml', 'apiVersion: v1\nkind: ConfigMap\nmetadata: { name: a }')],
    /^crds\[0\], .*other\.yaml is of type v1 ConfigMap, not apiextensions\.k8s\.io\/v1 CustomResourceDefinition$/,
  ],
  [
    'something without a type',
    async () => [await written('untyped.yaml', 'resources: []')],
    /^crds\[0\], .*untyped\.yaml: a manifest needs an apiVersion and a kind; this one has \{\}$/,
  ],
  ['no definition', async () => [await written('empty.yaml', '# nothing\n')], /empty\.yaml has no CustomResourceDef/],
  ['invalid YAML', async () => [await written('broken.yaml', 'a: [')], /broken\.yaml cannot be parsed: /],
  ['a missing file', async () => [join(folder, 'none.yaml')], /^crds\[0\]: .*none\.yaml cannot be read: ENOENT/],
  [
    'an address',
    async () => ['https://example.com/crd.yaml'],
    /^crds\[0\]: https:\/\/example\.com\/crd\.yaml is not a file; download it and pass its path$/,
  ],
  ['a value', async () => [7], /^crds\[0\] is 7, not a definition or a file$/],
  [
    'the same name twice',
    async () => [widget, { ...widget.definition }],
    /^crds\[1\]: widgets\.example\.com is already defined by crds\[0\]$/,
  ],
  ['no name', async () => [{ spec: widget.definition.spec }], /^crds\[0\]: metadata\.name: Required value$/],
  [
    'a kind that another definition has',
    async () => [widget, named('gadgets', 'Widget')],
    /^crds\[1\]: gadgets\.example\.com is not served: ListKindConflict: "WidgetList" is already in use$/,
  ],
]
for (const [what, crds, message] of invalid)
  test(`startCluster rejects ${what} and names it`, async () => {
    const given = (await crds()) as never
    await rejects(startCluster({ nodes: 0, crds: given }), { message })
  })

test('a custom kind is used like a built-in one', async () => {
  await using cluster = await startCluster({ nodes: 0, crds: [widget] })
  const widgets = cluster.client.of(widget)
  const made = await widgets.create({ metadata: { name: 'a' }, spec: { size: 1 } })
  deepEqual([made.apiVersion, made.kind, made.metadata.namespace], ['example.com/v1', 'Widget', 'default'])
  deepEqual(made.spec, { size: 1, mode: 'safe' })
  await rejects(
    widgets.create({ metadata: { name: 'b' }, spec: { size: 0 } }),
    (error) => error instanceof StatusError && /spec\.size: Invalid value: 0/.test(error.message),
  )
  const ready = await widgets.updateStatus({ ...made, status: { ready: true } })
  deepEqual([ready.status?.ready, ready.metadata.generation], [true, 1])
  equal((await widgets.modify('a', (copy) => (copy.spec.size = 3))).metadata.generation, 2)
  equal((await widgets.patch('a', { spec: { mode: 'fast' } })).spec.mode, 'fast')
  equal((await widgets.patch('a', [{ op: 'remove', path: '/spec/mode' }])).spec.mode, 'safe')
  equal((await widgets.apply({ metadata: { name: 'a' }, spec: { size: 3 } }, { force: true })).spec.size, 3)
  equal((await widgets.list()).items.length, 1)
  await widgets.delete('a')
  equal(await widgets.find('a'), undefined)
})

test('watches, faults, flows and explanations know custom kinds', async () => {
  await using cluster = await startCluster({ nodes: 0, crds: [widget] })
  const widgets = cluster.client.of(widget)
  const seen: string[] = []
  const ending = new AbortController()
  const watching = (async () => {
    for await (const event of widgets.watch({}, context(ending.signal)))
      if (event.type !== 'BOOKMARK') seen.push(`${event.type} ${event.object.spec.size}`)
  })().catch(() => {})
  await cluster.clock.settle()
  cluster.faults.reject({ verb: 'create', kind: widget, code: 503 })
  const input = { metadata: { name: 'a', finalizers: ['example.com/cleanup'] }, spec: { size: 1 } }
  await rejects(widgets.create(input), (error) => error instanceof StatusError && error.code === 503)
  const made = await widgets.create(input)
  equal(cluster.faults.breakWatches('reset', { kind: widget, sender: 'test' }), 1)
  await watching
  deepEqual(seen, ['ADDED 1'])
  ending.abort()
  match(cluster.flow(widget, 'a'), /test ──► API Server: create widgets a → 201/)
  equal(cluster.flow(made), cluster.flow(widget, 'a'))
  await rejects(async () => cluster.flow(widget, 'b'), /widget "b" has no recorded flow in namespace "default"/)
  await widgets.delete('a')
  match(await cluster.why(widget, 'a'), /^widget\/a\n[^]*example\.com\/cleanup/)
  equal(await cluster.why(await widgets.get('a')), await cluster.why(widget, 'a'))
  const isGone = async () => (await widgets.find('a')) === undefined
  await rejects(cluster.until(isGone, '1s'), /last object read: Widget default\/a [^]*delete widgets a → 200/)
})

test('a manifest may define a kind and contain objects of it, in any order', async () => {
  await using cluster = await startCluster({ nodes: 0 })
  const object = 'apiVersion: example.com/v1\nkind: Gear\nmetadata: { name: a }\nspec: { teeth: 12 }\n'
  const startedMs = cluster.clock.nowMs()
  const applied = await cluster.apply(`${object}---${yamlOf('gears', 'Gear')}`)
  deepEqual(
    applied.map(({ kind, metadata }) => `${kind} ${metadata.name}`),
    ['Gear a', 'CustomResourceDefinition gears.example.com'],
  )
  equal(cluster.clock.nowMs(), startedMs)
  equal((await cluster.apply(object.replace('12', '13')))[0]?.metadata.generation, 2)
  await rejects(cluster.apply(object.replace('Gear', 'Cog')), {
    message: 'no matches for kind "Cog" in version "example.com/v1"',
  })
  await rejects(
    cluster.apply(yamlOf('cogs', 'Gear')),
    /cogs\.example\.com is not served: ListKindConflict: "GearList" is alr/,
  )
})

test('a definition is established while the store is slow', async () => {
  await using cluster = await startCluster({ nodes: 0 })
  cluster.faults.slowStore(200)
  const object = 'apiVersion: example.com/v1\nkind: Gear\nmetadata: { name: a }\n'
  equal((await cluster.apply(`${yamlOf('gears', 'Gear')}---\n${object}`)).length, 2)
})

test('a snapshot contains definitions and their objects', async () => {
  await using cluster = await startCluster({ nodes: 0, crds: [widget] })
  const widgets = cluster.client.of(widget)
  await widgets.create({ metadata: { name: 'a' }, spec: { size: 1 } })
  const snapshot = cluster.snapshot()
  await cluster.client.of(customResourceDefinition).delete('widgets.example.com')
  await cluster.until(async () =>
    widgets.list().then(
      () => false,
      () => true,
    ),
  )
  await cluster.restore(snapshot)
  equal((await widgets.get('a')).spec.size, 1)
  await widgets.create({ metadata: { name: 'b' }, spec: { size: 2 } })
  equal((await widgets.list()).items.length, 2)
})
