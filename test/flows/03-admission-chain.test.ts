// Flow 03: the stages of a request, each with its time, and every way in which a request is rejected.
import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { present } from '../../src/base/assert.ts'
import { Channel } from '../../src/base/async/channel.ts'
import { configMap, pod, startCluster } from '../../src/cluster/index.ts'
import { patchWith, webhook, webhookServer } from '../../src/apiserver/admission/plugins/webhooks/webhooks.harness.ts'
import { comparePage, excerpt, inOrder } from './page.ts'
import { rawCalls, type RawCalls } from './raw-calls.ts'

const registration = '/apis/admissionregistration.k8s.io/v1'
const flowControl = '/apis/flowcontrol.apiserver.k8s.io/v1'
const pods = '/api/v1/namespaces/default/pods'
const maps = '/api/v1/namespaces/default/configmaps'
const rule = (resource: string) => ({
  operations: ['CREATE'],
  apiGroups: [''],
  apiVersions: ['v1'],
  resources: [resource],
})
const container = (name: string) => ({ name, image: 'i' })
const podNamed = (name: string) => ({ metadata: { name }, spec: { containers: [container('c')] } })
const drawn = { fold: true, stages: true }
/** The call and its stages in the API server, without its effects on other components. */
const ofCall = (name: string) => [
  new RegExp(`client ──► API Server: (create|update) \\w+ ${name} `),
  /API Server ··· API Server/,
  /API Server ──► Webhook\//,
  new RegExp(`API Server ══► Store: put \\w+ ${name} `),
]

test('03 admission chain', async () => {
  await using cluster = await startCluster({ https: true, nodes: 0 })
  await using admin = rawCalls(cluster.kubeconfig)
  await using anonymous = rawCalls(cluster.kubeconfig, 'anonymous')
  const make = async (path: string, object: object) => {
    const { status, body } = await admin.call('POST', path, object)
    equal(status, 201, JSON.stringify(body))
  }
  /** Webhooks that wait until the test lets each of them respond. */
  const waiting = new Channel<() => void>(10)
  const arrivals = waiting[Symbol.asyncIterator]()
  await using hooks = await webhookServer(async ({ path, request }) => {
    if (request.name === 'slow' || request.name === 'held') await new Promise<void>((answer) => waiting.push(answer))
    if (path.startsWith('/side'))
      return request.object.spec.containers.length === 1
        ? patchWith({ op: 'add', path: '/spec/containers/-', value: container('side') })
        : {}
    if (request.name === 'unwanted') return { allowed: false, status: { code: 403, message: 'unwanted object' } }
    return {}
  })
  const hook = (name: string, resource: string, more: object = {}) =>
    webhook(hooks, { name, rules: [rule(resource)], timeoutSeconds: 10, ...more })
  const at = (path: string) => ({ clientConfig: { url: hooks.url + path, caBundle: hooks.caBundle } })
  const policy = (resource: string, more: object) => ({
    metadata: { name: `${resource}-policy` },
    spec: { matchConstraints: { resourceRules: [rule(resource)] }, ...more },
  })
  await make(
    `${registration}/mutatingadmissionpolicies`,
    policy('pods', {
      reinvocationPolicy: 'IfNeeded',
      mutations: [
        {
          patchType: 'JSONPatch',
          jsonPatch: {
            expression:
              '[JSONPatch{op: "add", path: "/metadata/labels", value: {"containers": string(size(object.spec.containers))}}]',
          },
        },
      ],
    }),
  )
  await make(`${registration}/mutatingadmissionpolicybindings`, {
    metadata: { name: 'b' },
    spec: { policyName: 'pods-policy' },
  })
  await make(`${registration}/mutatingwebhookconfigurations`, {
    metadata: { name: 'm' },
    webhooks: [hook('side.example.com', 'pods', at('/side'))],
  })
  await make(
    `${registration}/validatingadmissionpolicies`,
    policy('configmaps', {
      validations: [{ expression: `object.metadata.name != 'judged'`, message: 'not this one' }],
    }),
  )
  await make(`${registration}/validatingadmissionpolicybindings`, {
    metadata: { name: 'b' },
    spec: { policyName: 'configmaps-policy', validationActions: ['Deny'] },
  })
  await make(`${registration}/validatingwebhookconfigurations`, {
    metadata: { name: 'v' },
    webhooks: [hook('judge.example.com', 'pods'), hook('guard.example.com', 'configmaps')],
  })
  const answerAfter = async (duration: string) => {
    const answer = present((await arrivals.next()).value, 'a webhook waits')
    await cluster.clock.advance(duration)
    answer()
  }

  const late = admin.call('POST', pods, podNamed('slow'))
  await answerAfter('1500ms')
  await answerAfter('200ms')
  const made = await late
  deepEqual([made.status, made.body.spec.containers.length, made.body.metadata.labels], [201, 2, { containers: '2' }])
  const [whole = ''] = cluster.flow(pod, 'slow', 'default', drawn).split(/(?<=put pod slow @\d+\n)/)
  inOrder(
    whole,
    /authentication 0ms/,
    /priority and fairness 0ms/,
    /authorization 0ms/,
    /reading 0ms/,
    /MutatingAdmissionPolicy pods-policy slow → changed/,
    /API Server ──► Webhook\/side.example.com: review create pods slow → patched/,
    /MutatingAdmissionPolicy pods-policy once more slow → changed/,
    /mutating admission 1500ms/,
    /schema validation 0ms/,
    /API Server ──► Webhook\/judge.example.com: review create pods slow → allowed/,
    /validating admission 200ms/,
    /store 0ms/,
    /API Server ══► Store: put pod slow/,
  )

  const level = {
    metadata: { name: 'narrow' },
    spec: {
      type: 'Limited',
      limited: { nominalConcurrencyShares: 0, borrowingLimitPercent: 0, limitResponse: { type: 'Reject' } },
    },
  }
  await make(`${flowControl}/prioritylevelconfigurations`, level)
  const everything = { verbs: ['*'], apiGroups: ['*'], resources: ['*'], clusterScope: true, namespaces: ['*'] }
  await make(`${flowControl}/flowschemas`, {
    metadata: { name: 'narrow' },
    spec: {
      matchingPrecedence: 10,
      priorityLevelConfiguration: { name: 'narrow' },
      rules: [{ subjects: [{ kind: 'User', user: { name: 'jane' } }], resourceRules: [everything] }],
    },
  })
  await make('/apis/rbac.authorization.k8s.io/v1/namespaces/default/rolebindings', {
    metadata: { name: 'jane' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'edit' },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'jane' }],
  })
  await make('/api/v1/namespaces', {
    metadata: { name: 'strict', labels: { 'pod-security.kubernetes.io/enforce': 'restricted' } },
  })
  const as = (name: string) => ({ 'impersonate-user': name })
  const held = admin.call('POST', maps, { metadata: { name: 'held' } }, as('jane'))
  const release = present((await arrivals.next()).value, 'a webhook waits')
  /** Rejected before the body is read: the recorded name is the one in the path, or none without credentials. */
  const update = (calls: RawCalls, name: string, headers: Record<string, string>) =>
    calls.call('PUT', `${maps}/${name}`, { metadata: { name } }, headers)
  const outcomes = {
    unknown: await update(anonymous, 'unknown', { authorization: 'Bearer nonsense' }),
    foreign: await update(admin, 'foreign', as('john')),
    crowded: await update(admin, 'crowded', as('jane')),
    wrong: await admin.call('POST', maps, { metadata: { name: 'wrong' }, data: [1] }),
    secure: await admin.call('POST', '/api/v1/namespaces/strict/pods', podNamed('secure')),
    invalid: await admin.call('POST', maps, { metadata: { name: 'invalid' }, data: { 'no key!': 'x' } }),
    judged: await admin.call('POST', maps, { metadata: { name: 'judged' } }),
    unwanted: await admin.call('POST', maps, { metadata: { name: 'unwanted' } }),
  }
  release()
  equal((await held).status, 201)
  const codes = Object.entries(outcomes).map(([name, { status }]) => [name, status])
  deepEqual(Object.fromEntries(codes), {
    unknown: 401,
    foreign: 403,
    crowded: 429,
    wrong: 400,
    secure: 403,
    invalid: 422,
    judged: 422,
    unwanted: 403,
  })
  equal(outcomes.crowded.headers['retry-after'], '1')
  const unnamed = excerpt(
    cluster.flow(configMap, '', '', drawn),
    /update configmaps → 401/,
    /authentication 0ms → refused/,
  )
  inOrder(unnamed, /update configmaps → 401 Unauthorized/, /authentication 0ms → refused/)
  const ends: Record<Exclude<keyof typeof outcomes, 'unknown'>, RegExp> = {
    foreign: /authorization 0ms → refused/,
    crowded: /priority and fairness 0ms → refused/,
    wrong: /reading 0ms → refused/,
    secure: /validating admission 0ms → refused/,
    invalid: /schema validation 0ms → refused/,
    judged: /validating admission 0ms → refused/,
    unwanted: /validating admission 0ms → refused/,
  }
  const refused = Object.entries(ends).map(([name, end]) => {
    const flow =
      name === 'secure' ? cluster.flow(pod, name, 'strict', drawn) : cluster.flow(configMap, name, 'default', drawn)
    inOrder(flow, new RegExp(`(create|update) \\w+ ${name} → [45]\\d\\d`), end)
    return excerpt(flow, ...ofCall(name))
  })

  await comparePage(
    '03-admission-chain',
    'Admission chain',
    [
      {
        heading: 'Every stage',
        text: 'A create of a pod. A policy counts its containers; a webhook adds one after 1.5 s, so the plugins and the policy run again; a validating webhook takes 0.2 s. Each stage has a line with the time that it took.',
        diagram: excerpt(whole, ...ofCall('slow')),
      },
      {
        heading: 'Rejected',
        text: 'Requests that are not authenticated (401, recorded without the name in the URL), not authorized (403), over the limit (429) or unreadable (400), and requests that a plugin, the schema, a policy or a webhook rejects: each ends at its stage, and nothing is stored.',
        diagram: [unnamed, ...refused].join('\n\n'),
      },
    ],
    [
      ['audit', 'every stage of every outcome is logged', 'src/apiserver/audit/audit.test.ts'],
      ['several fields are wrong', 'all errors are in one response', 'src/apiserver/objects/validation.test.ts'],
    ],
  )
})
