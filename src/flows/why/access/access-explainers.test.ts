// Bindings, ServiceAccounts and webhook configurations, beyond the situations of the lab.
import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { noCause, type FlowEvent, type FlowId } from '../../../base/observability/flow-recorder.ts'
import type { ApiObject } from '../../../api/meta/object.ts'
import type { ClusterReader } from '../explainer/cluster-reader.ts'
import type { Explainer } from '../explainer/explainer.ts'
import { clusterRoleBindingExplainer, roleBindingExplainer } from './binding-explainer.ts'
import { serviceAccountExplainer } from './service-account-explainer.ts'
import { mutatingWebhookExplainer, validatingWebhookExplainer } from './webhook-explainer.ts'

type Objects = Readonly<Record<string, readonly object[]>>

const named = (name: string, more: object = {}) => ({ metadata: { name, namespace: 'shop' }, ...more })

const readerOf = (objects: Objects = {}): ClusterReader => {
  const all = new Map(Object.entries(objects)) as ReadonlyMap<string, readonly ApiObject[]>
  return {
    list: ({ plural }) => Promise.resolve((all.get(plural) ?? []) as never),
    find: ({ plural }, _, name) =>
      Promise.resolve(all.get(plural)?.find(({ metadata }) => metadata.name === name) as never),
    nowMs: 0,
  }
}

const bindingTo = (kind: string, subjects: readonly object[]) =>
  named('b', { roleRef: { kind, name: 'r' }, subjects }) as unknown as ApiObject
const account = (name: string) => ({ kind: 'ServiceAccount', name, namespace: 'shop' })
const roles = { roles: [named('r')], clusterroles: [named('r')] }

const webhookTo = (clientConfig: object, failurePolicy = 'Fail') =>
  ({
    metadata: { name: 'w' },
    webhooks: [
      {
        name: 'w.example.com',
        clientConfig,
        failurePolicy,
        rules: [{ operations: ['CREATE', 'UPDATE'], apiGroups: ['apps', ''], resources: ['deployments'] }],
      },
    ],
  }) as unknown as ApiObject
const hook = { service: { namespace: 'shop', name: 'hook', port: 443 } }
const hookService = named('hook', { spec: { ports: [{ port: 443 }] } })
const slice = (ready: boolean) => ({
  metadata: { name: 's', labels: { 'kubernetes.io/service-name': 'hook' } },
  endpoints: [{ conditions: { ready } }],
})
const fails =
  'Its failure policy is Fail, so every request that it matches is rejected: CREATE, UPDATE of deployments.apps and deployments.'

const rows: [name: string, explainer: Explainer, object: ApiObject, objects: Objects, findings: string[]][] = [
  [
    'a binding whose role and subjects exist',
    roleBindingExplainer,
    bindingTo('Role', [account('a'), { kind: 'Group', name: 'g' }]),
    { ...roles, serviceaccounts: [named('a')] },
    [],
  ],
  [
    'a role that nothing resembles',
    clusterRoleBindingExplainer,
    bindingTo('ClusterRole', [account('a')]),
    { serviceaccounts: [named('a')] },
    [
      'error: It grants nothing: its ClusterRole r does not exist. kubectl create clusterrole r --verb=get,list,watch --resource=RESOURCE',
    ],
  ],
  [
    'no subjects',
    roleBindingExplainer,
    bindingTo('ClusterRole', []),
    roles,
    [
      'warning: It grants nothing: it has no subjects. kubectl set subject rolebinding/b --serviceaccount=NAMESPACE:NAME -n shop',
    ],
  ],
  [
    'an account that nothing resembles, as a user',
    roleBindingExplainer,
    bindingTo('Role', [{ kind: 'User', name: 'system:serviceaccount:other:bot' }]),
    roles,
    [
      'error: Its subject, the ServiceAccount bot of the namespace other, does not exist. kubectl create serviceaccount bot -n other',
    ],
  ],
  [
    'a user with the name of an account',
    roleBindingExplainer,
    bindingTo('Role', [{ kind: 'User', name: 'bot' }]),
    { ...roles, serviceaccounts: [named('bot')] },
    [
      'warning: Its subject is the user bot, and not the ServiceAccount bot of the namespace shop. kubectl set subject rolebinding/b --serviceaccount=shop:bot -n shop',
    ],
  ],
  ['a webhook at a URL', validatingWebhookExplainer, webhookTo({ url: 'https://x' }), {}, []],
  [
    'a webhook whose Service responds',
    mutatingWebhookExplainer,
    webhookTo(hook),
    { services: [hookService], endpointslices: [slice(true)] },
    [],
  ],
  [
    'a webhook that is skipped',
    mutatingWebhookExplainer,
    webhookTo(hook, 'Ignore'),
    {},
    [
      'warning: Its webhook w.example.com cannot be called: the Service shop/hook does not exist. Its failure policy is Ignore, so it is skipped.',
    ],
  ],
  [
    'a webhook whose Service has no such port',
    validatingWebhookExplainer,
    webhookTo(hook),
    { services: [named('hook', { spec: { ports: [{ port: 80 }] } })] },
    [
      `critical: Its webhook w.example.com cannot be called: the Service shop/hook has no port 443; it has 80. ${fails} kubectl patch validatingwebhookconfiguration/w --type=json -p '[{"op":"replace","path":"/webhooks/0/failurePolicy","value":"Ignore"}]'`,
    ],
  ],
  [
    'a webhook whose Service has no ready endpoint',
    mutatingWebhookExplainer,
    webhookTo(hook),
    { services: [hookService], endpointslices: [slice(false)] },
    [
      `critical: Its webhook w.example.com cannot be called: the Service shop/hook has no ready endpoint: see coxswain why service/hook -n shop. ${fails} kubectl patch mutatingwebhookconfiguration/w --type=json -p '[{"op":"replace","path":"/webhooks/0/failurePolicy","value":"Ignore"}]'`,
    ],
  ],
]
for (const [name, explainer, object, objects, findings] of rows)
  test(name, async () => {
    const found = await explainer.explain(object, readerOf(objects))
    deepEqual(
      found.map(({ severity, text, fix }) => `${severity}: ${text}${fix === undefined ? '' : ` ${fix}`}`),
      findings,
    )
  })

const refusal = (what: string, namespace: string): FlowEvent => ({
  id: 1 as FlowId,
  arrow: 'call',
  from: 'client',
  to: 'API Server',
  what,
  outcome: '403 Forbidden',
  atMs: 0,
  endMs: 0,
  revision: 0,
  cause: noCause,
  allowedBy: undefined,
  span: undefined,
  stages: [],
  deniedTo: 'system:serviceaccount:shop:bot',
  object: { resource: 'nodes', namespace, name: '' },
})
const bot = named('bot') as unknown as ApiObject
const bound = (rules: readonly object[]): Objects => ({
  clusterrolebindings: [
    { metadata: { name: 'b' }, roleRef: { kind: 'ClusterRole', name: 'r' }, subjects: [account('bot')] },
  ],
  clusterroles: [{ metadata: { name: 'r' }, rules }],
})

test('a refused request for the whole cluster: the bound roles are named, and a ClusterRole is needed', async () => {
  const [found] = await serviceAccountExplainer.explain(bot, readerOf(bound([])), [refusal('delete nodes', '')])
  equal(
    found?.text,
    'Its requests are refused: delete nodes in the whole cluster (1 time, last at 1970-01-01T00:00:00Z). The roles that are bound to it do not allow this: ClusterRole r.',
  )
  equal(
    found?.fix,
    'kubectl create clusterrole bot-nodes --verb=delete --resource=nodes && kubectl create clusterrolebinding bot-nodes --clusterrole=bot-nodes --serviceaccount=shop:bot',
  )
})

test('a request that a role allows since then is not reported', async () => {
  const allowing = bound([{ verbs: ['*'], apiGroups: [''], resources: ['nodes'] }])
  deepEqual(await serviceAccountExplainer.explain(bot, readerOf(allowing), [refusal('delete nodes', '')]), [])
  deepEqual(await serviceAccountExplainer.explain(bot, readerOf(), []), [])
})
