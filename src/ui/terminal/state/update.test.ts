import { deepEqual, equal, match } from 'node:assert/strict'
import { test } from 'node:test'
import { hintsOf } from './bindings.ts'
import { visibleRows } from './rows.ts'
import { selectedRow, selectionOf } from './scroll.ts'
import {
  after,
  deployments,
  initialState,
  namespaces,
  nodes,
  podRow,
  pods,
  podColumns,
  withRows,
} from './state.harness.ts'
import { shownView, type Effect, type State } from './state.ts'
import { tableView, type TableView, type View } from './views.ts'

const three = withRows(initialState(), [
  podRow('api-0'),
  podRow('web-0', { ready: '0/1', status: 'Pending' }),
  podRow('web-1'),
])
const many = withRows(
  initialState(),
  Array.from({ length: 100 }, (_, index) => podRow(`web-${String(index).padStart(3, '0')}`)),
)

const table = (state: State): TableView => {
  const view = shownView(state)
  if (view.kind !== 'table') throw new Error(`the view is ${view.kind}`)
  return view
}
const names = (state: State): string[] => visibleRows(selectionOf(table(state))).map(({ name }) => name)
const selected = (state: State): string => selectedRow(table(state))?.name ?? 'none'

/** A view in short: `list pods default`, `text logs`. */
function short(view: View): string {
  switch (view.kind) {
    case 'table': {
      if (view.source.kind === 'containers') return `containers ${view.source.pod.name}`
      if (view.source.kind !== 'list') return view.source.kind
      const { resource, namespace, selector } = view.source
      const by = selector?.labelSelector ?? selector?.fieldSelector ?? selector?.ownerUid
      return ['list', resource.plural, resource.namespaced ? namespace || 'all' : '', by].filter(Boolean).join(' ')
    }
    case 'text':
      return `text ${view.source.kind}`
    case 'flow':
      return `flow ${view.subject.object?.name ?? view.subject.between}`
    case 'map':
      return 'map'
    default:
      return view satisfies never
  }
}

const keys: [what: string, start: State, keys: string, check: (state: State, effects: Effect[]) => void][] = [
  ['moves down and up', three, 'jj<up>', (state) => equal(selected(state), 'web-0')],
  ['does not move beyond the ends', three, '<up>jjjjj', (state) => equal(selected(state), 'web-1')],
  ['moves by pages', many, '<pagedown>j', (state) => equal(selected(state), 'web-019')],
  ['moves to the end', many, 'G', (state) => equal(`${selected(state)} ${table(state).offset}`, 'web-099 82')],
  ['moves to the start', many, 'Gg', (state) => equal(`${selected(state)} ${table(state).offset}`, 'web-000 0')],
  ['filters while typing', three, '/web', (state) => deepEqual(names(state), ['web-0', 'web-1'])],
  ['keeps the filter after Enter', three, '/web<enter>j', (state) => equal(selected(state), 'web-1')],
  ['removes the filter with Escape', three, '/web<enter><esc>', (state) => equal(names(state).length, 3)],
  ['restores the former filter with Escape', three, '/web<enter>/x<esc>', (state) => equal(table(state).filter, 'web')],
  ['filters by alternatives', three, '/api|web-1', (state) => deepEqual(names(state), ['api-0', 'web-1'])],
  ['filters by what is absent', three, '/!web', (state) => deepEqual(names(state), ['api-0'])],
  ['shows all rows while only the sign is typed', three, '/!', (state) => equal(names(state).length, 3)],
  ['filters by label', three, '/-l app=web', (state) => deepEqual(names(state), ['web-0', 'web-1'])],
  ['filters by the presence of a label', three, '/-l app', (state) => equal(names(state).length, 3)],
  ['filters by status', three, '/pending', (state) => deepEqual(names(state), ['web-0'])],
  ['deletes characters of the filter', three, '/webx<backspace>', (state) => equal(table(state).filter, 'web')],
  ['empties the filter', three, '/web<ctrl-u>', (state) => equal(table(state).filter, '')],
  ['leaves an empty prompt', three, '/<backspace>', (state) => equal(state.prompt, undefined)],
  ['sorts', three, 'S', (state) => deepEqual(names(state), ['web-0', 'api-0', 'web-1'])],
  ['sorts the other way', three, 'NN', (state) => deepEqual(names(state), ['web-1', 'web-0', 'api-0'])],
  ['does not sort by a column that is not there', three, 'P', (state) => equal(table(state).sort?.column, 'Namespace')],
  [
    'opens a kind by its short name',
    three,
    ':deploy<enter>',
    (state) => equal(short(shownView(state)), 'list deployments default'),
  ],
  [
    'opens a kind in a namespace',
    three,
    ':po shop<enter>',
    (state) => equal(short(shownView(state)), 'list pods shop'),
  ],
  [
    'opens a kind in all namespaces',
    three,
    ':po all<enter>',
    (state) => equal(short(shownView(state)), 'list pods all'),
  ],
  [
    'completes a kind',
    three,
    ':conf<tab>',
    (state) => deepEqual(state.prompt, { kind: 'command', text: 'configmaps' }),
  ],
  [
    'opens the completed kind',
    three,
    ':conf<enter>',
    (state) => equal(short(shownView(state)), 'list configmaps default'),
  ],
  ['opens a kind without namespaces', three, ':no<enter>', (state) => equal(short(shownView(state)), 'list nodes')],
  [
    'opens a kind by its group',
    three,
    ':ships.example.com<enter>',
    (state) => equal(short(shownView(state)), 'list ships default'),
  ],
  [
    'refuses an unknown kind',
    three,
    ':podz<enter>',
    (state) => match(state.notice?.text ?? '', /unknown kind "podz"; did you mean pods/),
  ],
  ['ignores an empty command', three, ':<enter>', (state) => equal(state.views.length, 1)],
  ['leaves a command with Escape', three, ':po<esc>', (state) => equal(state.prompt, undefined)],
  ['lists the contexts', three, ':ctx<enter>', (state) => deepEqual(names(state), ['coxswain', 'staging'])],
  [
    'shows another context',
    three,
    ':ctx<enter>j<enter>',
    (_, effects) => deepEqual(effects, [{ kind: 'context', name: 'staging' }]),
  ],
  [
    'shows another context by its name',
    three,
    ':ctx staging<enter>',
    (_, effects) => deepEqual(effects, [{ kind: 'context', name: 'staging' }]),
  ],
  [
    'does not show an unknown context',
    three,
    ':ctx production<enter>',
    (state, effects) => deepEqual([state.notice?.isError, effects], [true, []]),
  ],
  [
    'does not show the same context again',
    three,
    ':ctx coxswain<enter>',
    (state, effects) => deepEqual([state.notice?.text, effects], ['coxswain is shown already', []]),
  ],
  ['lists forwarded ports', three, ':pf<enter>', (state) => deepEqual(names(state), [])],
  ['opens the map by command', three, ':map<enter>', (state) => equal(short(shownView(state)), 'map')],
  ['opens the help by command', three, ':help<enter>', (state) => equal(short(shownView(state)), 'text help')],
  [
    'opens the list of kinds by command',
    three,
    ':aliases<enter>',
    (state) => equal(short(shownView(state)), 'text kinds'),
  ],
  ['shows all namespaces', three, '0', (state) => equal(short(shownView(state)), 'list pods all')],
  ['returns to its own namespace', three, '01', (state) => equal(short(shownView(state)), 'list pods default')],
  [
    'chooses a namespace again that was chosen by a command',
    three,
    ':po shop<enter>:cm<enter>12',
    (state) => equal(short(shownView(state)), 'list configmaps shop'),
  ],
  [
    'without a namespace changes nothing',
    three,
    '2',
    (state) => deepEqual([state.views, state.notice?.isError], [three.views, false]),
  ],
  [
    'shows the namespace of the next list where the list has none',
    three,
    ':no<enter>0:po<enter>',
    (state) => equal(short(shownView(state)), 'list pods all'),
  ],
  [
    'completes a namespace',
    three,
    ':po shop<enter>:cm sh<tab>',
    (state) => deepEqual(state.prompt, { kind: 'command', text: 'cm shop' }),
  ],
  [
    'opens a kind by a name of k9s',
    three,
    ':dp<enter>',
    (state) => equal(short(shownView(state)), 'list deployments default'),
  ],
  ['moves the columns of a list', three, '<right><right><left>', (state) => equal(table(state).left, 1)],
  ['does not move the last column away', three, '<right>'.repeat(9), (state) => equal(table(state).left, 3)],
  [
    'keeps filter and order in another namespace',
    three,
    'N/web<enter>0',
    (state) => deepEqual([table(state).filter, table(state).sort?.column], ['web', 'Name']),
  ],
  ['reads again', three, '<ctrl-r>', (state) => equal(shownView(state).id, 2)],
  ['shows wide columns', three, '<ctrl-w>', (state) => equal(table(state).isWide, true)],
  ['describes', three, 'd', (state) => equal(short(shownView(state)), 'text describe')],
  ['shows YAML', three, 'y', (state) => equal(short(shownView(state)), 'text yaml')],
  ['explains', three, 'w', (state) => equal(short(shownView(state)), 'text why')],
  ['shows logs', three, 'l', (state) => equal(short(shownView(state)), 'text logs')],
  ['shows the flow', three, 'jf', (state) => equal(short(shownView(state)), 'flow web-0')],
  ['shows the map', three, 'm', (state) => equal(short(shownView(state)), 'map')],
  ['shows the containers of a pod', three, '<enter>', (state) => equal(short(shownView(state)), 'containers api-0')],
  ['goes back', three, 'd<esc>', (state) => equal(short(shownView(state)), 'list pods default')],
  ['stays in the first view', three, '<esc><esc>', (state) => equal(state.views.length, 1)],
  [
    'leaves a text with q',
    three,
    'dq',
    (state, effects) => deepEqual([short(shownView(state)), effects], ['list pods default', []]),
  ],
  ['quits with q', three, 'q', (_, effects) => deepEqual(effects, [{ kind: 'quit' }])],
  ['quits by command', three, ':q<enter>', (_, effects) => deepEqual(effects, [{ kind: 'quit' }])],
  ['quits with ctrl-c in a prompt', three, ':po<ctrl-c>', (_, effects) => deepEqual(effects, [{ kind: 'quit' }])],
  ['suspends', three, '<ctrl-z>', (_, effects) => deepEqual(effects, [{ kind: 'suspend' }])],
  [
    'asks before it deletes',
    three,
    '<ctrl-d>',
    (state, effects) => deepEqual([state.prompt?.kind, effects], ['confirm', []]),
  ],
  [
    'does not delete without a yes',
    three,
    '<ctrl-d><enter>',
    (state, effects) => deepEqual([state.prompt, effects], [undefined, []]),
  ],
  ['ignores keys without a meaning', three, 'zx<tab>', (state) => deepEqual(state, { ...three, notice: undefined })],
  ['shows the help', three, '?', (state) => equal(short(shownView(state)), 'text help')],
  ['forgets the oldest views', three, 'd<ctrl-a>'.repeat(20), (state) => equal(state.views.length, 20)],
]
for (const [what, start, typed, check] of keys)
  test(`a key ${what}`, () => {
    const { state, effects } = after(start, typed)
    check(state, effects)
  })

test('a deletion names the object that was selected, by its uid', () => {
  const object = { resource: pods, namespace: 'default', name: 'web-0' }
  deepEqual(after(three, 'j<ctrl-d>y').effects, [{ kind: 'delete', object, uid: 'uid-web-0', isNow: false }])
  deepEqual(after(three, 'j<ctrl-k>').effects, [{ kind: 'delete', object, uid: 'uid-web-0', isNow: true }])
})

test('a shell and an editor run for the selected object', () => {
  const object = { resource: pods, namespace: 'default', name: 'api-0' }
  deepEqual(after(three, 'se').effects, [
    { kind: 'shell', object, container: '' },
    { kind: 'edit', object },
  ])
})

test('the selection follows its object, and its position when the object is gone', () => {
  const chosen = after(three, 'j').state
  const change = (set: readonly ReturnType<typeof podRow>[], removed: readonly string[]) =>
    ({ kind: 'rows', id: 1, change: { kind: 'change', set, removed } }) as const
  const added = after(chosen, change([podRow('aaa')], [])).state
  deepEqual([selected(added), table(added).cursor.index], ['web-0', 2])
  const gone = after(added, change([], ['default/web-0'])).state
  deepEqual([selected(gone), table(gone).cursor.index], ['web-1', 2])
  const empty = after(gone, { kind: 'rows', id: 1, change: { kind: 'replace', columns: podColumns, rows: [] } }).state
  equal(selected(empty), 'none')
  match(after(empty, 'd').state.notice?.text ?? '', /nothing is selected/)
})

test('data of a view that is not there is ignored; data of a view below is kept', () => {
  const below = after(three, 'd', {
    kind: 'rows',
    id: 1,
    change: { kind: 'change', set: [podRow('new')], removed: [] },
  })
  equal(names(after(below.state, '<esc>').state).includes('new'), true)
  deepEqual(after(three, { kind: 'text', id: 99, lines: ['x'] }).state.views, three.views)
  deepEqual(after(three, { kind: 'text', id: 1, lines: ['x'] }).state.views, three.views)
})

test('a failure keeps the rows', () => {
  const { state } = after(three, { kind: 'failed', id: 1, reason: 'the server is away' })
  deepEqual([names(state).length, shownView(state).status.kind], [3, 'failed'])
})

const list = (resource: typeof pods, name: string): State =>
  withRows({ ...initialState(), views: [tableView(1, { kind: 'list', resource, namespace: '' })] }, [
    { ...podRow(name), namespace: resource.namespaced ? 'shop' : '' },
  ])

test('Enter leads from a namespace and from a node to their pods', () => {
  const { state } = after(list(namespaces, 'shop'), '<enter>')
  deepEqual([short(shownView(state)), state.namespace], ['list pods shop', 'shop'])
  equal(short(shownView(after(list(nodes, 'node-0'), '<enter>').state)), 'list pods all spec.nodeName=node-0')
})

test('Enter on a workload reads it, and then leads to its pods or to its description', () => {
  const start = list(deployments, 'web')
  const { state, effects } = after(start, '<enter>')
  const object = { resource: deployments, namespace: 'shop', name: 'web' }
  deepEqual(effects, [{ kind: 'drill', id: 1, object }])
  const to = {
    kind: 'list',
    resource: pods,
    namespace: 'shop',
    selector: { text: 'deployment/web', labelSelector: 'app=web' },
  } as const
  equal(short(shownView(after(state, { kind: 'drilled', id: 1, of: object, to }).state)), 'list pods shop app=web')
  const nowhere = { kind: 'drilled', id: 1, of: object, to: undefined } as const
  equal(short(shownView(after(state, nowhere).state)), 'text describe')
  equal(short(shownView(after(state, 'd', nowhere).state)), 'text describe', 'not after another view was opened')
  equal(after(state, 'd', nowhere).state.views.length, 2)
})

test('shells and kills are of pods', () => {
  for (const key of ['s', '<ctrl-k>']) {
    const { state, effects } = after(list(nodes, 'node-0'), key)
    deepEqual([effects, state.notice?.isError, state.views.length], [[], true, 1])
  }
})

test('a workload has the logs of its pods, and a node has none', () => {
  for (const [key, isPrevious] of [
    ['l', false],
    ['p', true],
  ] as const) {
    const view = shownView(after(list(deployments, 'web'), key).state)
    const object = { resource: deployments, namespace: 'shop', name: 'web' }
    deepEqual(view.kind === 'text' && view.source, { kind: 'logs', object, container: '', isPrevious })
  }
  const { state } = after(list(nodes, 'node-0'), 'l')
  deepEqual([state.views.length, state.notice?.text], [1, 'a node has no logs; pods, workloads and Services have'])
})

test('a container has logs and a shell, and is not deleted', () => {
  const containers = withRows(after(three, '<enter>').state, [podRow('main')], 2)
  equal(short(shownView(after(containers, '<enter>').state)), 'text logs')
  deepEqual(after(containers, 's').effects, [
    { kind: 'shell', object: { resource: pods, namespace: 'default', name: 'api-0' }, container: 'main' },
  ])
  for (const key of ['<ctrl-d>', '<ctrl-k>']) equal(after(containers, key).state.notice?.isError, true)
})

test('without a flow record there is no flow, with a reason', () => {
  const upstream = { ...three, cluster: { ...three.cluster, missing: 'this API server records no flows' } }
  const { state } = after(upstream, 'f')
  deepEqual([state.views.length, state.notice?.text], [1, 'this API server records no flows'])
  equal(short(shownView(after(upstream, 'w').state)), 'text why', 'an explanation needs no record')
})

test('a line of the map leads to its messages', () => {
  const lines = [
    { id: 'a>b', from: 'a', to: 'b', perSecond: 2, errorsPerSecond: 0 },
    { id: 'b>c', from: 'b', to: 'c', perSecond: 1, errorsPerSecond: 0 },
  ]
  const { state } = after(three, 'm', { kind: 'map', id: 2, columns: [['a']], lines }, 'j<enter>')
  equal(short(shownView(state)), 'flow b>c')
  const fewer = after(three, 'm', { kind: 'map', id: 2, columns: [], lines }, 'j', {
    kind: 'map',
    id: 2,
    columns: [],
    lines: lines.slice(0, 1),
  })
  deepEqual(shownView(fewer.state).kind === 'map' && (shownView(fewer.state) as { cursor: number }).cursor, 0)
  equal(short(shownView(after(three, 'm<enter>').state)), 'map', 'there is nothing to open yet')
})

test('logs follow their end until the position is moved, and again at the end', () => {
  const lines = Array.from({ length: 100 }, (_, index) => `line ${index}`)
  const followed = (state: State): boolean => {
    const view = shownView(state)
    return view.kind === 'text' && view.isFollowing
  }
  const logs = after(three, 'l', { kind: 'text', id: 2, lines }).state
  equal(followed(logs), true)
  equal(followed(after(logs, 'k').state), false)
  equal(followed(after(logs, 'kG').state), true)
  equal(followed(after(logs, 's').state), false)
  equal(followed(after(logs, 'ss').state), true)
  equal(followed(after(three, 'ds').state), false, 'a description has no end to follow')
})

test('text is moved sideways, wrapped and searched', () => {
  const text = after(three, 'd', { kind: 'text', id: 2, lines: ['a'.repeat(200)] }).state
  const view = (state: State) => shownView(state) as { left: number; isWrapped: boolean; filter: string }
  equal(view(after(text, '<right><right><left>').state).left, 8)
  equal(view(after(text, '<left>').state).left, 0)
  deepEqual([view(after(text, '<right>w').state).isWrapped, view(after(text, '<right>w').state).left], [true, 0])
  equal(view(after(text, '/aa<enter>').state).filter, 'aa')
})

test('a smaller terminal keeps the selection on the screen', () => {
  const { state } = after(many, '<pagedown>', { kind: 'resize', width: 80, height: 12 })
  const { offset, cursor } = table(state)
  equal(cursor.index >= offset && cursor.index < offset + 9, true)
})

test('a notice remains until the next key', () => {
  const shown = after(three, { kind: 'notice', notice: { text: 'deleted', isError: false } }).state
  equal(shown.notice?.text, 'deleted')
  equal(after(shown, 'j').state.notice, undefined)
})

test('the keys of namespaces remain while there are at most nine; then the first that was chosen loses its key', () => {
  const chosen = Array.from({ length: 9 }, (_, index) => `:po ns-${index}<enter>`)
  const { state } = after(three, ...chosen.slice(0, 8), ':po ns-0<enter>')
  deepEqual(state.favorites, ['default', ...Array.from({ length: 8 }, (_, index) => `ns-${index}`)])
  deepEqual(after(state, chosen[8] ?? '').state.favorites.slice(0, 2), ['default', 'ns-1'])
  equal(after(state, chosen[8] ?? '').state.favorites.length, 9)
})

test('the pods of a workload are not those of another namespace, and the pods of a node are in all', () => {
  const selector = { text: 'deployment/web', labelSelector: 'app=web' }
  const ofWorkload = { kind: 'list', resource: pods, namespace: 'shop', selector } as const
  const start = { ...initialState(), views: [tableView(1, ofWorkload)] }
  equal(short(shownView(after(start, '0').state)), 'list pods all')
  const ofNode = after(list(nodes, 'node-0'), '<enter>1').state
  equal(short(shownView(ofNode)), 'list pods default spec.nodeName=node-0')
})

test('Enter on a namespace gives it a key', () => {
  deepEqual(after(list(namespaces, 'shop'), '<enter>').state.favorites, ['default', 'shop'])
})

const web = { resource: deployments, namespace: 'shop', name: 'web' }

test('a workload is scaled from its present number of replicas', () => {
  const start = withRows(list(deployments, 'web'), [{ ...podRow('web'), namespace: 'shop', cells: ['web', '1/2'] }])
  const asked = after(start, 's').state
  deepEqual(asked.prompt, { kind: 'scale', object: web, text: '2', isProposed: true })
  const scaled = (input: string) => after(asked, input).effects
  deepEqual(scaled('<enter>'), [{ kind: 'scale', object: web, replicas: 2 }])
  deepEqual(scaled('5<enter>'), [{ kind: 'scale', object: web, replicas: 5 }], 'the first digit replaces the proposal')
  deepEqual(scaled('15<enter>'), [{ kind: 'scale', object: web, replicas: 15 }])
  deepEqual(scaled('<right>5<enter>'), [{ kind: 'scale', object: web, replicas: 25 }], 'after a move it is edited')
  deepEqual(after(asked, '<backspace>5<enter>').effects, [{ kind: 'scale', object: web, replicas: 5 }])
  deepEqual(after(asked, '<ctrl-u>0<enter>').effects, [{ kind: 'scale', object: web, replicas: 0 }])
  deepEqual(after(asked, '<esc>').state.prompt, undefined)
  const wrong = after(asked, 'x<enter>')
  deepEqual([wrong.effects, wrong.state.notice?.text], [[], '"x" is not a number of replicas'])
})

test('a restart is confirmed', () => {
  const asked = after(list(deployments, 'web'), 'r')
  deepEqual([asked.state.prompt?.kind, asked.effects], ['confirm', []])
  deepEqual(after(asked.state, 'y').effects, [{ kind: 'restart', object: web }])
  deepEqual(after(asked.state, 'n').effects, [])
})

for (const [key, resource, message] of [
  ['r', pods, 'a pod is not restarted; Deployments, StatefulSets and DaemonSets are'],
  ['F', nodes, 'a node has no ports; pods, workloads and Services have'],
] as const)
  test(`the key ${key} says what it is for`, () => {
    const { state, effects } = after(list(resource, 'a'), key)
    deepEqual([state.notice, effects, state.prompt], [{ text: message, isError: true }, [], undefined])
  })

test('ports are forwarded in the background, and ended from their list', () => {
  const object = { resource: pods, namespace: 'default', name: 'api-0' }
  const started = after(three, 'F8080:80<enter>')
  deepEqual(started.effects, [{ kind: 'forward', id: 2, object, ports: '8080:80' }])
  const running = after(
    started.state,
    { kind: 'forwarded', id: 2, status: 'Running', detail: 'Forwarding' },
    ':pf<enter>',
  )
  const cells = (state: State) => visibleRows(selectionOf(table(state))).map((row) => row.cells)
  deepEqual(cells(running.state), [['pod default/api-0', '8080:80', 'Running', 'Forwarding']])
  const lost = after(running.state, { kind: 'forwarded', id: 2, status: 'Failed', detail: 'lost connection to pod' })
  deepEqual(cells(lost.state)[0]?.slice(2), ['Failed', 'lost connection to pod'])
  deepEqual(lost.state.notice, {
    text: 'kubectl port-forward pod/api-0 8080:80 -n default: lost connection to pod',
    isError: true,
  })
  const ended = after(running.state, '<ctrl-d>')
  deepEqual([cells(ended.state), ended.effects], [[], [{ kind: 'stop-forward', id: 2 }]])
  const late = after(ended.state, { kind: 'forwarded', id: 2, status: 'Failed', detail: 'killed' })
  deepEqual(late.state.forwards, [])
})

test('wrong ports and too many forwards are refused', () => {
  match(after(three, 'Fx:y:z<enter>').state.notice?.text ?? '', /"x:y:z" are no ports, such as 8080:80/)
  const { state } = after(three, 'F80<enter>'.repeat(20))
  const { state: full, effects } = after(state, 'F80<enter>')
  deepEqual([full.forwards.length, full.notice?.isError, effects], [20, true, []])
})

test('the header offers to delete only what can be deleted', () => {
  const offered = (typed: string) => new Map(hintsOf(shownView(after(three, typed).state))).get('ctrl-d')
  deepEqual([offered(''), offered(':pf<enter>'), offered(':ctx<enter>')], ['delete', 'end', undefined])
})

test('lists of the program itself have no actions on objects', () => {
  for (const typed of [':ctx<enter>d', ':ctx<enter><ctrl-d>', ':ctx<enter>y'])
    deepEqual([after(three, typed).state.notice?.isError, after(three, typed).effects], [true, []])
  equal(after(three, ':pf<enter><ctrl-d>').state.notice?.text, 'nothing is selected')
  equal(short(shownView(after(three, ':ctx<enter>?').state)), 'text help', 'other keys are the same')
})
