import { deepEqual } from 'node:assert/strict'
import { test } from 'node:test'
import type { Pod } from '../../api/core/v1/pod/pod.ts'
import { drainPlan, type DrainPlan, type DrainRules } from './drain-plan.ts'

const owner = (kind: string, name: string) => ({
  ownerReferences: [{ apiVersion: 'apps/v1', kind, name, uid: name, controller: true }],
})
const podOf = (name: string, metadata: object = {}, spec: object = {}, status: object = { phase: 'Running' }) =>
  ({ metadata: { name, namespace: 'shop', ...metadata }, spec, status }) as unknown as Pod
const web = podOf('web', owner('ReplicaSet', 'web'))
const lone = podOf('lone')
const cached = podOf('cached', owner('ReplicaSet', 'cached'), { volumes: [{ name: 'a', emptyDir: {} }] })
const agent = podOf('agent', owner('DaemonSet', 'agents'))
const orphan = podOf('orphan', owner('DaemonSet', 'deleted'))
const done = podOf('done', {}, { volumes: [{ name: 'a', emptyDir: {} }] }, { phase: 'Succeeded' })
const doneAgent = podOf('done-agent', owner('DaemonSet', 'agents'), {}, { phase: 'Failed' })
const mirror = podOf('mirror', { annotations: { 'kubernetes.io/config.mirror': 'x' } })

const strict: DrainRules = { ignoresDaemonSets: false, deletesLocalData: false, isForced: false }
type Expected = Partial<Pick<DrainPlan, 'errors' | 'warnings'>> & { readonly evicted?: string[] }

const rows: [what: string, pods: Pod[], rules: Partial<DrainRules>, expected: Expected][] = [
  [
    'pods with a controller, and those that have ended, are evicted',
    [web, done, doneAgent],
    {},
    { evicted: ['web', 'done', 'done-agent'] },
  ],
  ['mirror pods stay', [mirror], {}, {}],
  [
    'pods that need a flag are errors, by reason',
    [agent, lone, cached, podOf('other')],
    {},
    {
      evicted: [],
      errors: [
        'cannot delete DaemonSet-managed Pods (use --ignore-daemonsets to ignore): shop/agent',
        'cannot delete Pods that declare no controller (use --force to override): shop/lone, shop/other',
        'cannot delete Pods with local storage (use --delete-emptydir-data to override): shop/cached',
      ],
    },
  ],
  [
    'pods of DaemonSets are ignored',
    [agent, web],
    { ignoresDaemonSets: true },
    { evicted: ['web'], warnings: ['ignoring DaemonSet-managed Pods: shop/agent'] },
  ],
  [
    'a pod of a DaemonSet that was deleted',
    [orphan],
    { ignoresDaemonSets: true },
    { errors: ['daemonsets.apps "deleted" not found: shop/orphan'] },
  ],
  [
    'the same with force',
    [orphan],
    { isForced: true },
    { evicted: ['orphan'], warnings: ['daemonsets.apps "deleted" not found: shop/orphan'] },
  ],
  [
    'local data is deleted',
    [cached],
    { deletesLocalData: true },
    { evicted: ['cached'], warnings: ['deleting Pods with local storage: shop/cached'] },
  ],
  [
    'pods without a controller are forced',
    [lone],
    { isForced: true },
    { evicted: ['lone'], warnings: ['deleting Pods that declare no controller: shop/lone'] },
  ],
]
for (const [what, pods, rules, expected] of rows)
  test(`the plan of a drain: ${what}`, () => {
    const plan = drainPlan(pods, { ...strict, ...rules }, (namespace, name) => `${namespace}/${name}` === 'shop/agents')
    const evicted = plan.evicted.map(({ metadata }) => metadata.name)
    deepEqual({ ...plan, evicted }, { evicted: [], errors: [], warnings: [], ...expected })
  })
