// The palette and the numbers of the navigation, without a browser.
import { deepEqual, equal } from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { FlowEvent } from '../../../base/observability/flow-recorder.ts'
import type { Resource } from '../source/source.ts'
import { KindCounts } from './kind-counts.ts'
import { Palette, type PaletteChoice } from './palette.ts'

async function settled(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await Promise.resolve()
}

const choice = (label: string, ran: string[]): PaletteChoice => ({
  id: label,
  label,
  detail: '',
  run: () => void ran.push(label),
})

function opened() {
  const ran: string[] = []
  const searches: {
    readonly text: string
    readonly signal: AbortSignal
    resolve(names: string[]): void
    reject(error: Error): void
  }[] = []
  const palette = new Palette({
    choices: () => [choice('Pods', ran), choice('Nodes', ran)],
    search: (_mode, text, signal) => {
      const result = Promise.withResolvers<readonly PaletteChoice[]>()
      const resolve = (names: string[]): void => result.resolve(names.map((name) => choice(name, ran)))
      searches.push({ text, signal, resolve, reject: result.reject })
      return result.promise
    },
    sleep: async () => undefined,
    changed: () => undefined,
  })
  palette.open('search')
  return { palette, ran, searches, labels: () => palette.choices.map(({ label }) => label) }
}

suite('palette', () => {
  test('known choices are shown at once, found ones after the search', async () => {
    const { palette, labels, searches } = opened()
    deepEqual(labels(), ['Pods', 'Nodes'])
    palette.type('pod')
    await settled()
    deepEqual([labels(), palette.isSearching], [['Pods'], true])
    searches.at(-1)?.resolve(['pod-1'])
    await settled()
    deepEqual([labels(), palette.isSearching], [['Pods', 'pod-1'], false])
  })

  test('a result that arrives after more was typed is not shown', async () => {
    const { palette, labels, searches } = opened()
    palette.type('a')
    await settled()
    palette.type('ab')
    await settled()
    const [first, second] = searches.slice(-2)
    equal(first?.signal.aborted, true)
    second?.resolve(['ab'])
    first?.resolve(['a'])
    await settled()
    deepEqual(labels(), ['ab'])
  })

  test('the selection moves in a circle and is chosen', () => {
    const { palette, ran } = opened()
    palette.move(-1)
    equal(palette.selected, 1)
    palette.move(1)
    palette.move(1)
    palette.choose(palette.choices[palette.selected])
    deepEqual([ran, palette.mode], [['Nodes'], undefined])
    palette.choose(undefined)
    equal(ran.length, 1)
  })

  test('a failed search is shown, until the next one', async () => {
    const { palette, searches } = opened()
    palette.type('a')
    await settled()
    searches.at(-1)?.reject(new Error('the server is gone'))
    await settled()
    deepEqual([palette.failure, palette.isSearching], ['the server is gone', false])
    palette.type('b')
    await settled()
    searches.at(-1)?.resolve([])
    await settled()
    equal(palette.failure, undefined)
  })
})

const kind = (plural: string): Resource => ({
  group: '',
  version: 'v1',
  plural,
  kind: plural,
  isNamespaced: true,
  verbs: [],
})
const [pods, nodes] = [kind('pods'), { ...kind('nodes'), isNamespaced: false }]
const event = (what: string, resource: string, more: Partial<FlowEvent> = {}): FlowEvent =>
  ({ arrow: 'call', what, object: { resource, namespace: '', name: 'a' }, ...more }) as FlowEvent

function counting() {
  const asked: string[] = []
  const sleeping: (() => void)[] = []
  let isAllowed = true
  const counts = new KindCounts({
    source: {
      count: async ({ plural }, namespace) => {
        asked.push(`${plural} ${namespace}`)
        if (!isAllowed) throw new Error('forbidden')
        return asked.length
      },
    },
    whenDrawn: async () => undefined,
    sleep: (_ms, signal) =>
      new Promise((resolve, reject) => {
        sleeping.push(resolve)
        signal.addEventListener('abort', () => reject(new Error('aborted')))
      }),
    changed: () => undefined,
  })
  return { counts, asked, forbid: () => (isAllowed = false), wake: () => sleeping.shift()?.() }
}

suite('counts', () => {
  test('each kind is counted once, and again only after objects of it were created or deleted', async () => {
    const { counts, asked, wake } = counting()
    counts.follow([pods, nodes], 'default')
    await settled()
    deepEqual([asked, counts.get(pods)], [['pods default', 'nodes '], 1])
    wake()
    await settled()
    counts.observe([
      event('update pods', 'pods'),
      event('patch pods', 'pods', { outcome: '200' }),
      event('list pods', 'pods'),
    ])
    await settled()
    equal(asked.length, 2)
    counts.observe([event('create pods', 'pods')])
    await settled()
    deepEqual([asked.slice(2), counts.get(pods)], [['pods default'], 3])
    // What happens within the next seconds is counted together.
    counts.observe([event('delete pods', 'pods')])
    counts.observe([event('patch pods', 'pods', { outcome: '201' }), event('delete pod', 'pods', { arrow: 'persist' })])
    await settled()
    equal(asked.length, 3)
    wake()
    await settled()
    equal(asked.length, 4)
  })

  test('another namespace is counted from the start, and what may not be listed has no number', async () => {
    const { counts, asked, forbid } = counting()
    counts.follow([pods], '')
    await settled()
    forbid()
    counts.follow([pods], 'other')
    await settled()
    deepEqual([asked, counts.get(pods)], [['pods ', 'pods other'], undefined])
    counts.stop()
    counts.observe([event('create pods', 'pods')])
    await settled()
    equal(asked.length, 2)
  })
})
