// What the editor knows about a text: where a position is, what can be typed there, what is wrong, and where a field is.
import { deepEqual, equal, ok } from 'node:assert/strict'
import { suite, test } from 'node:test'
import { completionsAt } from './completions.ts'
import { fieldAt } from './field-at.ts'
import { errorPlaces, placeOfField } from './field-places.ts'
import { findingsIn } from './findings.ts'
import type { KnownKinds } from './known-kinds.ts'
import { schemaOfKind, SchemaNode, type OpenApiDocument, type OpenApiSchema } from './schema-node.ts'
import { manifestsIn } from './manifests.ts'
import { checkedCharsMax, yamlDocuments } from './yaml-documents.ts'

const ref = (name: string): OpenApiSchema => ({ $ref: `#/components/schemas/${name}` })

const document: OpenApiDocument = {
  components: {
    schemas: {
      Quantity: { oneOf: [{ type: 'string' }, { type: 'number' }] },
      IntOrString: { format: 'int-or-string', oneOf: [{ type: 'integer' }, { type: 'string' }] },
      Port: {
        type: 'object',
        required: ['port'],
        properties: {
          port: { type: 'integer', default: 0 },
          protocol: { type: 'string', enum: ['TCP', 'UDP'] },
          target: { allOf: [ref('IntOrString')], description: 'Where it leads to.' },
        },
      },
      Tree: { type: 'object', properties: { child: ref('Tree'), leaf: { type: 'boolean' } } },
      Loop: { allOf: [ref('Loop')], description: 'It refers to itself.' },
      Meta: {
        type: 'object',
        properties: { name: { type: 'string' }, labels: { type: 'object', additionalProperties: { type: 'string' } } },
      },
      Thing: {
        type: 'object',
        required: ['spec'],
        'x-kubernetes-group-version-kind': [{ group: 'example.com', version: 'v1', kind: 'Thing' }],
        properties: {
          apiVersion: { type: 'string' },
          kind: { type: 'string' },
          metadata: { allOf: [ref('Meta')], default: {} },
          spec: {
            type: 'object',
            description: 'What is wanted.',
            required: ['name', 'mode'],
            properties: {
              name: { type: 'string', default: '' },
              mode: { type: 'string', enum: ['fast', 'slow', 'yes'], default: 'fast' },
              paused: { type: 'boolean' },
              ports: { type: 'array', items: { allOf: [ref('Port')], default: {} } },
              args: { type: 'array', items: { type: 'string' } },
              phases: { type: 'array', items: { type: 'string', enum: ['one', 'two'] } },
              limits: { type: 'object', additionalProperties: ref('Quantity') },
              ratio: { type: 'number' },
              flexible: { 'x-kubernetes-int-or-string': true },
              free: {
                type: 'object',
                'x-kubernetes-preserve-unknown-fields': true,
                properties: { known: { type: 'integer' } },
              },
              anything: {},
              tree: ref('Tree'),
              loop: ref('Loop'),
              lost: ref('Lost'),
              'a: b': { type: 'string' },
            },
          },
        },
      },
    },
  },
}

const schema = schemaOfKind(document, { group: 'example.com', version: 'v1', kind: 'Thing' })
const kinds: KnownKinds = {
  all: [
    { apiVersion: 'example.com/v1', kind: 'Thing' },
    { apiVersion: 'v1', kind: 'Pod' },
  ],
  schemaOf: ({ apiVersion, kind }) => (apiVersion === 'example.com/v1' && kind === 'Thing' ? schema : undefined),
}

const head = 'apiVersion: example.com/v1\nkind: Thing\n'
/** The position is that of `|` in the text. */
const split = (text: string): readonly [string, number] => [text.replace('|', ''), text.indexOf('|')]
const offered = (text: string) => {
  const [whole, at] = split(text)
  return completionsAt(whole, at, kinds)
}
const labels = (text: string): readonly string[] => offered(text)?.options.map(({ label }) => label) ?? []
const shown = (text: string, { from, to }: { readonly from: number; readonly to: number }): string =>
  text.slice(from, to)

suite('completions', () => {
  const spec = [
    'name',
    'a: b',
    'anything',
    'args',
    'flexible',
    'free',
    'limits',
    'loop',
    'lost',
    'mode',
    'paused',
    'phases',
    'ports',
    'ratio',
    'tree',
  ]
  for (const [name, text, expected] of [
    ['fields of an object, required ones first', `${head}spec:\n  |`, spec],
    ['while a name is typed', `${head}spec:\n  pa|`, spec],
    ['in the middle of a name', `${head}spec:\n  pa|used: true`, spec],
    ['without those that are present', `${head}spec:\n  tree:\n    |\n    leaf: true`, ['child']],
    [
      'above and below others',
      `${head}spec:\n  |\n  name: a\n  mode: fast`,
      spec.filter((each) => each !== 'name' && each !== 'mode'),
    ],
    ['at the end of the document', `${head}metadata:\n  name: a\n|`, ['spec']],
    ['of an item', `${head}spec:\n  ports:\n  - |`, ['port', 'protocol', 'target']],
    ['of an item that is indented', `${head}spec:\n  ports:\n    - port: 1\n      |`, ['protocol', 'target']],
    ['of the second item', `${head}spec:\n  ports:\n  - port: 1\n  - port: 2\n    |`, ['protocol', 'target']],
    ['of a list without a dash', `${head}spec:\n  ports:\n  |`, spec.filter((each) => each !== 'ports')],
    ['of an indented list without a dash', `${head}spec:\n  ports:\n    |`, ['- port', '- protocol', '- target']],
    [
      'of a schema that refers to itself',
      `${head}spec:\n  tree:\n    child:\n      child:\n        |`,
      ['child', 'leaf'],
    ],
    ['of an open object', `${head}spec:\n  free:\n    |`, ['known']],
    ['of a map: none', `${head}metadata:\n  labels:\n    |`, []],
    ['of the second document', `a: 1\n---\n${head}metadata:\n  |`, ['labels', 'name']],
    ['values of an enum', `${head}spec:\n  mode: |`, ['fast', 'slow', 'yes']],
    ['values while one is typed', `${head}spec:\n  mode: sl|\n  name: a`, ['fast', 'slow', 'yes']],
    ['values of a boolean', `${head}spec:\n  paused: |`, ['true', 'false']],
    ['values in an item', `${head}spec:\n  ports:\n  - protocol: |`, ['TCP', 'UDP']],
    ['values that are items', `${head}spec:\n  phases:\n  - o|`, ['one', 'two']],
    ['values of a text: none', `${head}spec:\n  name: |`, []],
    ['in a block scalar: none', `${head}spec:\n  name: |-\n    pa`.replace('pa', 'p\u007Ca').replace('|-', '>-'), []],
    ['in a comment: none', `${head}spec:\n  # pa|`, []],
    ['in braces: none', `${head}spec: {|}`, []],
    ['in quotes: none', `${head}spec:\n  mode: "f|`, []],
    ['below a value: none', `${head}spec:\n  name: a\n    |`, []],
    ['of an unknown field: none', `${head}spec:\n  wrong:\n    |`, []],
    ['of a kind without a schema: what all have', 'apiVersion: v1\n|', ['kind', 'metadata']],
    ['in an empty text', '|', ['apiVersion', 'kind', 'metadata']],
    ['kinds of a version', 'apiVersion: v1\nkind: |', ['Pod']],
    ['versions of a kind', 'apiVersion: |\nkind: Thing', ['example.com/v1']],
    ['all versions', 'apiVersion: |', ['example.com/v1', 'v1']],
  ] as const)
    test(name, () => deepEqual(labels(text), expected))

  for (const [name, text, label, insert] of [
    ['a value', `${head}spec:\n  |`, 'name', 'name: '],
    ['an object', `${head}|`, 'spec', 'spec:\n  '],
    ['a nested object', `${head}spec:\n  |`, 'tree', 'tree:\n    '],
    ['a list', `${head}spec:\n  |`, 'ports', 'ports:\n  - '],
    ['a list in an item', `${head}spec:\n    ports:\n    |`, 'args', 'args:\n    - '],
    ['an item', `${head}spec:\n  ports:\n    |`, '- port', '- port: '],
    ['of any type', `${head}spec:\n  |`, 'anything', 'anything: '],
    ['that has a colon already', `${head}spec:\n  n|: a`, 'name', 'name'],
    ['whose name is no plain word', `${head}spec:\n  |`, 'a: b', '"a: b": '],
  ] as const)
    test(`what is inserted for a field: ${name}`, () =>
      equal(offered(text)?.options.find((each) => each.label === label)?.insert, insert))

  test('a value that YAML would read as another type is quoted', () =>
    deepEqual(
      offered(`${head}spec:\n  mode: |`)?.options.map(({ insert }) => insert),
      ['fast', 'slow', '"yes"'],
    ))

  test('the whole word is replaced', () => {
    const [text, at] = split(`${head}spec:\n  pa|used: true`)
    const found = completionsAt(text, at, kinds)
    ok(found !== undefined)
    equal(shown(text, found), 'paused')
  })

  test('types and descriptions', () => {
    const details = new Map(offered(`${head}spec:\n  |`)?.options.map(({ label, detail }) => [label, detail]))
    deepEqual(
      ['name', 'ports', 'limits', 'flexible', 'anything', 'lost', 'loop'].map((each) => details.get(each)),
      ['string, required', '[]object', 'map[string]string | number', 'integer | string', 'any', 'any', 'any'],
    )
    equal(offered(`${head}|`)?.options[0]?.description, 'What is wanted.')
  })

  test('a text that is too long has none', () => {
    const long = `${head}${'#'.repeat(checkedCharsMax)}\nspec:\n  `
    equal(completionsAt(long, long.length, kinds), undefined)
    deepEqual(findingsIn(`a: [\n${long}`, kinds), [])
  })
})

suite('findings', () => {
  const good = `${head}spec:\n  name: a\n`
  for (const [name, text, expected] of [
    ['nothing', good, []],
    ['an unknown field', `${good}  wrong: 1`, [['wrong', 'there is no field "wrong"']]],
    [
      'an unknown field of an item',
      `${good}  ports:\n  - port: 1\n    prot: x`,
      [['prot', 'there is no field "prot"']],
    ],
    ['a wrong type', `${head}spec:\n  name: 8`, [['8', 'must be string, not integer']]],
    ['a word that YAML 1.1 reads as a boolean', `${head}spec:\n  name: yes`, [['yes', 'must be string, not boolean']]],
    ['a value instead of an object', `${good}  tree: x`, [['x', 'must be object, not string']]],
    ['an object instead of a list', `${good}  ports:\n    port: 1`, [['ports', 'must be []object, not object']]],
    ['a wrong item', `${good}  args: [a, 2]`, [['2', 'must be string, not integer']]],
    ['a missing field', `${head}spec:\n  paused: true`, [['spec', 'the field "name" is missing']]],
    ['a missing field of an item', `${good}  ports:\n  - protocol: TCP`, [['protocol', 'the field "port" is missing']]],
    ['a missing field of the object', head, [['kind', 'the field "spec" is missing']]],
    ['a value that is not in the enum', `${good}  mode: quick`, [['quick', 'must be one of fast, slow, yes']]],
    [
      'quantities, and numbers or texts',
      `${good}  limits: {cpu: 1, memory: 1Gi}\n  flexible: 80\n  ports: [{port: 1, target: http}]`,
      [],
    ],
    ['a wrong quantity', `${good}  limits: {cpu: true}`, [['true', 'must be string | number, not boolean']]],
    ['an integer for a number', `${good}  ratio: 1`, []],
    ['a number for an integer', `${good}  ports: [{port: 1.5}]`, [['1.5', 'must be integer, not number']]],
    ['an open object', `${good}  free: {other: 1}\n  anything: {a: [1]}`, []],
    ['a known field of an open object', `${good}  free: {known: a}`, [['a', 'must be integer, not string']]],
    ['labels', `${good}metadata:\n  labels: {a: b, c: 1}`, [['1', 'must be string, not integer']]],
    ['null sets no field', `${good}  paused:\n  tree: null\n  ports: ~`, []],
    ['a timestamp is a text', `${good}metadata:\n  name: 2026-01-01`, []],
    ['an alias', `${head}spec:\n  name: &n a\n  tree: &t {leaf: true}\n  free: *t`, []],
    ['fields that are merged', `${head}metadata: &m {name: a}\nspec:\n  <<: *m\n  paused: true`, []],
    ['a kind without a schema', 'apiVersion: v1\nkind: Pod\nspec: 1', []],
    ['a comment, and an empty document', '# nothing\n---\n', []],
    [
      'each document by its own kind',
      `apiVersion: v1\nkind: Pod\n---\n${good}  wrong: 1`,
      [['wrong', 'there is no field "wrong"']],
    ],
  ] as const)
    test(name, () =>
      deepEqual(
        findingsIn(text, kinds).map((found) => [shown(text, found), found.message]),
        expected,
      ),
    )

  for (const [name, text, from, message] of [
    ['a name without a value', `${head}spec:\n  mode: fast\n  name\nmetadata: {}`, 60, /Implicit map keys/],
    ['a name that is repeated', `${head}kind: Thing\n`, 39, /must be unique/],
    ['a tab', `${head}spec:\n\tname: a`, 45, /Tabs are not allowed/],
    ['an alias of nothing', `${head}spec: *none`, 45, /There is no anchor none/],
  ] as const)
    test(`the place of a syntax error: ${name}`, () => {
      const [found] = findingsIn(text, kinds)
      equal(found?.from, from)
      ok(message.test(found?.message ?? ''), found?.message)
    })

  test('a syntax error at the end is within the text', () => {
    const text = `${head}spec: "a`
    deepEqual(
      findingsIn(text, kinds).map(({ from, to }) => [from, to]),
      [[text.length, text.length]],
    )
  })

  test('their number is bounded', () => {
    const fields = Array.from({ length: 500 }, (_, at) => `  wrong${at}: 1\n`)
    equal(findingsIn(`${good}${fields.join('')}`, kinds).length, 100)
  })
})

suite('the field at a position', () => {
  for (const [name, text, expected] of [
    [
      'a field',
      `${head}sp|ec: {}`,
      { name: 'spec', type: 'object', isRequired: true, description: 'What is wanted.', values: [] },
    ],
    [
      'a field of an item',
      `${head}spec: {ports: [{tar|get: 1}]}`,
      { name: 'target', type: 'integer | string', isRequired: false, description: 'Where it leads to.', values: [] },
    ],
    [
      'a field with values',
      `${head}spec:\n  mo|de: fast`,
      { name: 'mode', type: 'string', isRequired: false, description: '', values: ['fast', 'slow', 'yes'] },
    ],
    ['a value', `${head}spec:\n  mode: fa|st`, undefined],
    ['an unknown field', `${head}spec:\n  wro|ng: fast`, undefined],
    ['a field of an unknown kind', 'kind: X\nsp|ec: 1', undefined],
    [
      'a field that refers to itself',
      `${head}spec:\n  lo|op: 1`,
      { name: 'loop', type: 'any', isRequired: false, description: 'It refers to itself.', values: [] },
    ],
  ] as const)
    test(name, () => {
      const [whole, at] = split(text)
      const { from: _from, to: _to, ...described } = fieldAt(whole, at, kinds) ?? { from: 0, to: 0 }
      deepEqual(described, expected ?? {})
    })
})

suite('the place of a field that the server names', () => {
  const text = [
    'metadata:',
    '  labels: {app: a, app.kubernetes.io/name: b}',
    '  finalizers: [x/y, example.com/z]',
    'spec:',
    '  containers:',
    '  - name: web',
    '    image: one',
    '    ports:',
    '    - containerPort: 80',
    '    - {containerPort: 81, protocol: UDP}',
    '  - name: side',
    '    image: two',
    'data: {color: red}',
  ].join('\n')
  for (const [field, expected] of [
    ['.data.color', 'color'],
    ['data.color', 'color'],
    ['.metadata.labels.app', 'app'],
    ['.metadata.labels.app.kubernetes.io/name', 'app.kubernetes.io/name'],
    ['metadata.labels[app.kubernetes.io/name]', 'app.kubernetes.io/name'],
    ['.metadata.finalizers[="example.com/z"]', 'example.com/z'],
    ['spec.containers[0].image', 'image', 6],
    ['spec.containers[1].image', 'image', 11],
    ['.spec.containers[name="side"].image', 'image', 11],
    ['.spec.containers[name="web"].ports[containerPort=80,protocol="TCP"].protocol', 'containerPort', 8],
    ['.spec.containers[name="web"].ports[containerPort=81,protocol="UDP"].protocol', 'protocol', 9],
    ['.spec.containers[name="web"].ports[containerPort=81,protocol="TCP"]', 'ports', 7],
    ['spec.containers[1].resources.limits[cpu]', 'name', 10],
    ['spec.containers[7].image', 'containers', 4],
    ['spec.nodeName', 'spec', 3],
    ['metadata.name', 'metadata', 0],
    ['status', undefined],
    ['', undefined],
    ['.spec.containers[name="<b>"].image', 'containers', 4],
  ] as const satisfies readonly (readonly [string, string | undefined, number?])[])
    test(field === '' ? 'none' : field, () => {
      const [parsed] = yamlDocuments(text)
      ok(parsed !== undefined)
      const place = placeOfField(parsed, field)
      equal(place === undefined ? undefined : shown(text, place), expected)
    })

  test('its line', () => {
    const [parsed] = yamlDocuments(text)
    ok(parsed !== undefined)
    const place = placeOfField(parsed, '.spec.containers[name="side"].image')
    equal(text.slice(0, place?.from).split('\n').length - 1, 11)
  })
})

test('errors are at their fields, in the order of the text; others at the start of their document', () => {
  const text = `${head}---\nkind: Pod\nspec:\n  nodeName: a`
  const errors = [
    { field: 'spec.nodeName', message: 'c', document: 1 },
    { field: 'status', message: 'b', document: 1 },
    { field: 'kind', message: 'a', document: 0 },
    { field: 'kind', message: 'of no document', document: 2 },
  ]
  deepEqual(
    errorPlaces(text, errors).map((place) => [shown(text, place), place.message]),
    [
      ['kind', 'kind: a'],
      ['kind', 'status: b'],
      ['nodeName', 'spec.nodeName: c'],
    ],
  )
  deepEqual(errorPlaces(text, []), [])
})

suite('manifests', () => {
  const first = 'apiVersion: v1\nkind: Namespace\nmetadata:\n  name: shop\n'
  const second =
    'apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web, namespace: shop}\nspec:\n  text: |\n    ---x\n'
  const parsed = (text: string) => yamlDocuments(text).map(({ apiVersion, kind }) => [apiVersion, kind])
  const namespace = ['v1', 'Namespace']
  const deployment = ['apps/v1', 'Deployment']
  for (const [name, text, expected] of [
    ['one document', first, [namespace]],
    ['two documents', `${first}---\n${second}`, [namespace, deployment]],
    ['comments and empty documents', `# a\n---\n${first}---\n# nothing\n---\n${second}---\n`, [namespace, deployment]],
    ['a document that is indented', '  apiVersion: v1\n  kind: Namespace\n  metadata: {name: a}\n', [namespace]],
    [
      'a document after its mark',
      `--- {apiVersion: v1, kind: Namespace, metadata: {name: a}}\n---\n${second}`,
      [namespace, deployment],
    ],
    ['nothing', '# nothing\n', []],
  ] as const)
    test(`each is sent as one document: ${name}`, () => {
      const manifests = manifestsIn(text)
      deepEqual(
        manifests.map(({ apiVersion, kind }) => [apiVersion, kind]),
        expected,
      )
      deepEqual(
        manifests.flatMap((manifest) => parsed(manifest.text)),
        expected,
      )
      deepEqual(
        manifests.flatMap(({ problem }) => problem ?? []),
        [],
      )
    })

  test('where it is sent', () => {
    const [, manifest] = manifestsIn(`${first}---\n${second}`)
    deepEqual([manifest?.name, manifest?.namespace, manifest?.document], ['web', 'shop', 1])
    const definition =
      'apiVersion: a/v1\nkind: D\nmetadata: {name: x}\nspec: {group: example.com, names: {kind: Widget}}'
    deepEqual(manifestsIn(definition)[0]?.defines, { group: 'example.com', kind: 'Widget' })
  })

  for (const [name, text, problem] of [
    ['a syntax error', 'kind: [', /flow sequence|Flow sequence/],
    ['no object', '- a', /It is no object/],
    ['nothing that says where', 'spec: {}', /^apiVersion, kind, metadata.name: required$/],
    ['no name', 'apiVersion: v1\nkind: Pod\nmetadata: {name: 8}', /^metadata.name: required$/],
  ] as const)
    test(`what cannot be sent: ${name}`, () => ok(problem.test(manifestsIn(text)[0]?.problem ?? '')))
})

test('names of fields are not those of prototypes', () => {
  const node = new SchemaNode({}, { type: 'object', properties: { a: {} } })
  equal(node.field('constructor'), undefined)
  deepEqual(
    findingsIn(`${head}spec:\n  name: a\n  __proto__: 1`, kinds).map(({ message }) => message),
    ['there is no field "__proto__"'],
  )
})

suite('unusual texts and schemas', () => {
  const unusual = `${head}? [complex, key]\n: value\n? \n: nothing\nspec:\n  name: a\n  ? {b: c}\n  : [1]\n`

  test('keys that are no names are left alone', () => {
    ok(findingsIn(unusual, kinds).every(({ message }) => !message.includes('complex')))
    deepEqual(
      completionsAt(unusual + '  ', unusual.length + 2, kinds)
        ?.options.map(({ label }) => label)
        .includes('name'),
      false,
    )
    equal(fieldAt(unusual, unusual.indexOf('value'), kinds), undefined)
    const [first] = yamlDocuments(unusual)
    ok(first !== undefined)
    const place = placeOfField(first, '.spec.name')
    equal(place && shown(unusual, place), 'name')
    equal(placeOfField(first, '.status'), undefined)
  })

  test('a place below a value, or of an item that does not exist, is that of the field around it', () => {
    const text = `${head}spec:\n  name: a\n  ports:\n  - port: 1\n  - 7\n  - []\n`
    const [first] = yamlDocuments(text)
    ok(first !== undefined)
    const at = (field: string) => {
      const place = placeOfField(first, field)
      return place && shown(text, place)
    }
    equal(at('spec.name.inner'), 'name')
    equal(at('spec.ports[9].port'), 'ports')
    equal(at('spec.ports[port=2].port'), 'ports')
    equal(at('spec.ports[0].port'), 'port')
    equal(at('spec.ports[=7]'), '7')
    equal(at('spec.portsmouth'), 'spec')
  })

  test('a schema says what it can without types, components or items', () => {
    equal(schemaOfKind({}, { group: '', version: 'v1', kind: 'Pod' }), undefined)
    const node = (of: OpenApiSchema) => new SchemaNode({}, of)
    deepEqual([...node({ properties: { a: {} } }).types], ['object'])
    deepEqual([...node({ items: { type: 'string' } }).types], ['array'])
    equal(node({ type: 'array' }).typeText, '[]any')
    equal(node({ default: { a: 1 } }).hasDefault, true)
    equal(node({ default: {} }).hasDefault, false)
    equal(node({ type: 'object' }).field('a'), undefined)
    equal(node({ anyOf: [{ type: 'string' }, { type: 'unknown' }] }).typeText, 'any')
    equal(node({ type: 'object', additionalProperties: true }).typeText, 'object')
  })

  test('what has no schema is not completed', () => {
    deepEqual(labels(`${head}spec:\n  tree: |`), [])
    deepEqual(labels(`${head}other:\n  inner: |`), [])
    deepEqual(labels(`${head}spec:\n  args:\n    |`), [])
    deepEqual(labels(`${head}spec: {|}`), [])
  })
})
