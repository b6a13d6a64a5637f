// Creating objects from YAML, without a browser: where documents are sent, dry runs, and what depends on another document.
import { deepEqual, equal, rejects } from 'node:assert/strict'
import { suite, test } from 'node:test'
import { manifestsIn } from '../model/editing/manifests.ts'
import { templateOf } from '../model/template.ts'
import { RequestError } from '../source/requests.ts'
import type { Actions, Applied, ApplyOptions, Resource } from '../source/source.ts'
import { Creation } from './creation.ts'

const resource = (group: string, kind: string, plural: string, isNamespaced: boolean): Resource => ({
  group,
  version: 'v1',
  kind,
  plural,
  isNamespaced,
  verbs: [],
})
const kinds = [
  resource('', 'ConfigMap', 'configmaps', true),
  resource('', 'Namespace', 'namespaces', false),
  resource('apiextensions.k8s.io', 'CustomResourceDefinition', 'customresourcedefinitions', false),
]
const widgets = resource('example.com', 'Widget', 'widgets', true)

interface Sent {
  readonly path: string
  readonly isDryRun: boolean
}

function creationWith(apply: (sent: Sent) => boolean, { namespace = '', readsUntilNew = 1, isPast = false } = {}) {
  const sent: Sent[] = []
  let known: readonly Resource[] = kinds
  let reads = 0
  let forgotten = 0
  const actions = {
    async apply(
      { plural }: Resource,
      object: { namespace: string; name: string },
      _yaml: string,
      { isDryRun }: ApplyOptions,
    ): Promise<Applied> {
      const each = { path: `${plural}/${object.namespace}/${object.name}`, isDryRun }
      sent.push(each)
      return { object: { metadata: { name: object.name } }, isCreated: apply(each) }
    },
  } as unknown as Actions
  const creation = new Creation({
    source: { actions: isPast ? undefined : actions },
    resources: () => known,
    readResources: async () => {
      if (++reads >= readsUntilNew) known = [...kinds, widgets]
    },
    namespace: () => namespace,
    manifestsIn: async (text) => manifestsIn(text),
    kindsChanged: () => void forgotten++,
    sleep: async () => undefined,
    changed: () => undefined,
  })
  const outcomes = () => creation.draft?.results.map(({ name, outcome }) => `${name} ${outcome}`)
  return { creation, sent, outcomes, reads: () => reads, forgotten: () => forgotten }
}

const object = (kind: string, name: string, more = ''): string =>
  `apiVersion: v1\nkind: ${kind}\nmetadata:\n  name: ${name}\n${more}`
const definition =
  'apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: widgets.example.com}\nspec: {group: example.com, names: {kind: Widget}}\n'
const widget = 'apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: one}\n'

suite('creation', () => {
  test('a form writes the text, until the text is edited by hand', () => {
    const { creation } = creationWith(() => true, { namespace: 'shop' })
    creation.open('typed', 'configmaps')
    const text = (): string | undefined => creation.draft?.text
    equal(text(), 'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: ""\n  namespace: shop\n')
    creation.fill('name', 'a')
    equal(text(), 'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n  namespace: shop\n')
    equal(creation.draft?.form?.values.get('name'), 'a')
    creation.open('other', 'secrets')
    equal(creation.draft.form?.id, 'configmaps', 'what was filled in is kept')
    creation.type('by hand')
    deepEqual([text(), creation.draft?.form], ['by hand', undefined])
    creation.fill('name', 'b')
    equal(text(), 'by hand')
    creation.useForm('namespaces')
    equal(text(), 'apiVersion: v1\nkind: Namespace\nmetadata:\n  name: ""\n')
    creation.useForm('')
    deepEqual([text()?.includes('Namespace'), creation.draft?.form], [true, undefined])
  })

  test('an untouched form makes room for that of another kind, and for the template of a kind without one', () => {
    const { creation } = creationWith(() => true)
    creation.open('', 'configmaps')
    creation.open('', 'secrets')
    equal(creation.draft?.form?.id, 'secrets')
    creation.open('kind: Pod', 'pods')
    deepEqual([creation.draft.text, creation.draft.form], ['kind: Pod', undefined])
    creation.close()
    creation.useForm('pods')
    deepEqual([creation.draft?.text, creation.draft?.form], ['', undefined])
  })

  test('nothing is created before the dry run has succeeded', async () => {
    const { creation, sent, outcomes } = creationWith(({ path }) => !path.endsWith('/there'))
    creation.open('')
    creation.type(`${object('ConfigMap', 'new')}---\n${object('ConfigMap', 'there', '  namespace: shop\n')}`)
    await creation.create()
    deepEqual([sent, creation.canCreate], [[], false])
    await creation.check()
    deepEqual(outcomes(), ['new created', 'there changed'])
    deepEqual(
      creation.draft?.results.map(({ message }) => message),
      ['would be created', 'exists, and would be changed'],
    )
    await creation.create()
    deepEqual(
      sent.map(({ path, isDryRun }) => `${path} ${isDryRun}`),
      [
        'configmaps/default/new true',
        'configmaps/shop/there true',
        'configmaps/default/new false',
        'configmaps/shop/there false',
      ],
    )
    deepEqual([creation.draft?.step, creation.canCreate, creation.draft?.isRunning], ['created', false, false])
  })

  test('the shown namespace is that of objects without one; some kinds have none', async () => {
    const { creation, sent } = creationWith(() => true, { namespace: 'shop' })
    creation.type(`${object('ConfigMap', 'a')}---\n${object('Namespace', 'b', '  namespace: x\n')}`)
    await creation.check()
    deepEqual(
      sent.map(({ path }) => path),
      ['configmaps/shop/a', 'namespaces//b'],
    )
  })

  test('what is rejected is marked in its document, and nothing is created', async () => {
    const causes = [{ field: 'data.a', message: 'invalid' }]
    const { creation, outcomes, sent } = creationWith(({ path }) => {
      if (path.endsWith('/bad')) throw new RequestError(422, 'bad is invalid', causes)
      return true
    })
    creation.type(
      `${object('ConfigMap', 'good')}---\n${object('ConfigMap', 'bad')}---\n${object('Unknown', 'c')}---\na: 1`,
    )
    await creation.check()
    deepEqual(outcomes(), ['good created', 'bad failed', 'c failed', '4 failed'])
    deepEqual(creation.draft?.errors, [{ field: 'data.a', message: 'invalid', document: 1 }])
    equal(creation.draft?.results[2]?.message, 'There is no kind Unknown in v1.')
    await creation.create()
    equal(sent.filter(({ isDryRun }) => !isDryRun).length, 0)
    creation.type('other')
    deepEqual([creation.draft?.errors, creation.draft?.results], [[], []])
  })

  test('an object in a namespace of the same text waits for it', async () => {
    let isThere = false
    const { creation, outcomes } = creationWith(({ path, isDryRun }) => {
      if (path === 'namespaces//shop' && !isDryRun) isThere = true
      if (path.startsWith('configmaps/shop') && !isThere) throw new RequestError(404, 'namespace not found', [])
      if (path.startsWith('configmaps/none')) throw new RequestError(404, 'namespace not found', [])
      return true
    })
    const inShop = object('ConfigMap', 'a', '  namespace: shop\n')
    creation.type(`${object('Namespace', 'shop')}---\n${inShop}`)
    await creation.check()
    deepEqual(outcomes(), ['shop created', 'a waits'])
    await creation.create()
    deepEqual(outcomes(), ['shop created', 'a created'])
    creation.type(object('ConfigMap', 'b', '  namespace: none\n'))
    await creation.check()
    deepEqual(outcomes(), ['b failed'])
  })

  test('a custom resource waits for its definition', async () => {
    const { creation, outcomes, reads, forgotten, sent } = creationWith(() => true, { readsUntilNew: 3 })
    creation.type(`${definition}---\n${widget}`)
    await creation.check()
    deepEqual([outcomes(), reads()], [['widgets.example.com created', 'one waits'], 0])
    await creation.create()
    deepEqual([outcomes(), reads(), forgotten()], [['widgets.example.com created', 'one created'], 3, 1])
    equal(sent.at(-1)?.path, 'widgets/default/one')
  })

  test('a kind that never appears is not waited for without end', async () => {
    const { creation, outcomes, reads } = creationWith(() => true, { readsUntilNew: Infinity })
    creation.type(`${definition}---\n${widget}`)
    await creation.check()
    await creation.create()
    deepEqual([outcomes(), reads()], [['widgets.example.com created', 'one failed'], 20])
  })

  test('texts without an object, and with too many, are errors', async () => {
    const { creation } = creationWith(() => true)
    creation.type('# nothing')
    await rejects(creation.check(), /There is no object/)
    creation.type(Array.from({ length: 101 }, (_, at) => object('ConfigMap', `c${at}`)).join('---\n'))
    await rejects(creation.check(), /more than 100/)
    equal(creation.draft?.isRunning, false)
  })

  test('a change of the text ends what runs, and so does closing', async () => {
    const { creation, outcomes } = creationWith(() => true)
    creation.type(object('ConfigMap', 'a'))
    const running = creation.check()
    creation.type(object('ConfigMap', 'b'))
    await running
    deepEqual([outcomes(), creation.draft?.isRunning], [[], false])
    const other = creation.check()
    creation.close()
    await other
    equal(creation.draft, undefined)
    await creation.check()
    equal(creation.canCreate, false)
  })

  test('a template replaces a template, but not what was typed', () => {
    const { creation } = creationWith(() => true)
    creation.open('one')
    creation.open('two')
    equal(creation.draft?.text, 'two')
    creation.type('typed')
    creation.open('three')
    equal(creation.draft?.text, 'typed')
  })

  test('a report creates nothing', async () => {
    const { creation, outcomes } = creationWith(() => true, { isPast: true })
    creation.type(object('ConfigMap', 'a'))
    await creation.check()
    deepEqual(outcomes(), ['a failed'])
  })
})

test('the template of a kind', () => {
  equal(templateOf(kinds[0], 'shop'), 'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: ""\n  namespace: shop\n')
  equal(templateOf(kinds[2], 'shop').includes('namespace'), false)
  equal(templateOf(undefined, 'shop'), '')
})
