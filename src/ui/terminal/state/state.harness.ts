// A state with a small cluster, for the tests of the state machine and of the frames.
import type { Row } from './rows.ts'
import type { Resource } from './resources.ts'
import type { Effect, Input, State } from './state.ts'
import { update } from './update.ts'
import { tableView } from './views.ts'

const verbs = ['delete', 'get', 'list', 'watch']
const resource = (
  kind: string,
  plural: string,
  shortNames: readonly string[],
  { group = '', namespaced = true }: { readonly group?: string; readonly namespaced?: boolean } = {},
): Resource => ({ group, version: 'v1', kind, plural, singular: kind.toLowerCase(), shortNames, namespaced, verbs })

export const pods = resource('Pod', 'pods', ['po'])
export const nodes = resource('Node', 'nodes', ['no'], { namespaced: false })
export const namespaces = resource('Namespace', 'namespaces', ['ns'], { namespaced: false })
export const deployments = resource('Deployment', 'deployments', ['deploy'], { group: 'apps' })
export const cronJobs = resource('CronJob', 'cronjobs', ['cj'], { group: 'batch' })
const definitions = resource('CustomResourceDefinition', 'customresourcedefinitions', ['crd'], {
  group: 'apiextensions.k8s.io',
  namespaced: false,
})

export const resources: readonly Resource[] = [
  pods,
  nodes,
  namespaces,
  resource('ConfigMap', 'configmaps', ['cm']),
  resource('Service', 'services', ['svc']),
  deployments,
  cronJobs,
  resource('Job', 'jobs', [], { group: 'batch' }),
  definitions,
  resource('Ship', 'ships', [], { group: 'example.com' }),
]

export const podColumns = [
  { name: 'Name', priority: 0 },
  { name: 'Ready', priority: 0 },
  { name: 'Status', priority: 0 },
  { name: 'Restarts', priority: 0 },
  { name: 'Age', priority: 0 },
  { name: 'IP', priority: 1 },
  { name: 'Node', priority: 1 },
]

export const nowMs = Date.parse('2026-03-01T12:00:00Z')

export interface PodRow {
  readonly namespace?: string
  readonly ready?: string
  readonly status?: string
  readonly restarts?: string
  readonly ageMs?: number
  readonly owner?: string
}

export const podRow = (name: string, given: PodRow = {}): Row => {
  const { namespace = 'default', ready = '1/1', status = 'Running', restarts = '0', ageMs = 90_000, owner } = given
  return {
    key: `${namespace}/${name}`,
    namespace,
    name,
    uid: `uid-${name}`,
    cells: [name, ready, status, restarts, '0s', '10.0.0.1', 'node-0'],
    createdAt: new Date(nowMs - ageMs).toISOString(),
    isDeleting: status === 'Terminating',
    labels: { app: name.split('-')[0] ?? '' },
    owners: owner === undefined ? [] : [owner],
  }
}

export const initialState = (width = 80, height = 24): State => ({
  cluster: {
    context: 'coxswain',
    server: 'https://127.0.0.1:6443',
    version: 'v1.36.4',
    namespace: 'default',
    missing: undefined,
  },
  contexts: [
    { name: 'coxswain', cluster: 'coxswain', user: 'admin', namespace: 'default' },
    { name: 'staging', cluster: 'stage', user: 'me', namespace: 'shop' },
  ],
  resources,
  forwards: [],
  namespace: 'default',
  favorites: ['default'],
  views: [tableView(1, { kind: 'list', resource: pods, namespace: 'default' })],
  prompt: undefined,
  notice: undefined,
  width,
  height,
  nextId: 2,
})

/** The state and all effects after inputs. A text is typed key by key; names of keys are in angle brackets. */
export function after(state: State, ...inputs: readonly (Input | string)[]): { state: State; effects: Effect[] } {
  const effects: Effect[] = []
  let current = state
  for (const input of inputs.flatMap((each) => (typeof each === 'string' ? keysOf(each) : [each]))) {
    const step = update(current, input)
    current = step.state
    effects.push(...step.effects)
  }
  return { state: current, effects }
}

const keysOf = (text: string): Input[] =>
  Array.from(text.matchAll(/<([\w-]+)>|./gsu), ([whole, name]): Input => ({ kind: 'key', key: name ?? whole }))

export const withRows = (state: State, rows: readonly Row[], id = 1): State =>
  update(state, { kind: 'rows', id, change: { kind: 'replace', columns: podColumns, rows } }).state
