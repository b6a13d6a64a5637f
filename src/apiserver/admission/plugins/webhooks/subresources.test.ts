// Webhooks and policies for requests to subresources, and for requests that store nothing.
import { deepEqual, equal, match } from 'node:assert/strict'
import { test } from 'node:test'
import { selfSubjectAccessReview } from '../../../../api/authorization/v1/self-subject-access-review.ts'
import { serviceAccount } from '../../../../api/core/v1/service-account.ts'
import type { KubeletCall } from '../../../kubelet-client/kubelet-connection.ts'
import { startServer, type Harness } from '../../../server.harness.ts'
import {
  patchWith,
  register,
  registration,
  startHooked,
  webhook,
  webhookServer,
  type Asked,
} from './webhooks.harness.ts'
import { openPolicies } from '../../../open-policies.ts'

/** The response contains the request after admission. */
const reviews = [
  { kind: serviceAccount, subresource: 'token', review: (body: unknown) => body as object },
  { kind: selfSubjectAccessReview, subresource: '', review: (body: unknown) => body as object },
]
const namespaced = '/api/v1/namespaces/default'
const apps = '/apis/apps/v1/namespaces/default/deployments'
const everything = {
  rules: [{ operations: ['*'], apiGroups: ['*'], apiVersions: ['*'], resources: ['*/*'], scope: '*' }],
}
const template = { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } }
const deployment = {
  metadata: { name: 'd' },
  spec: { replicas: 1, selector: { matchLabels: { a: 'b' } }, template },
}

async function furnish(server: Harness): Promise<void> {
  const made = [
    await server.call('POST', '/api/v1/nodes', { metadata: { name: 'n' } }),
    await server.call('POST', `${namespaced}/pods`, { metadata: { name: 'free' }, spec: template.spec }),
    await server.call('POST', `${namespaced}/pods`, {
      metadata: { name: 'bound' },
      spec: { ...template.spec, nodeName: 'n' },
    }),
    await server.call('POST', apps, deployment),
    await server.call('POST', `${namespaced}/services`, { metadata: { name: 's' }, spec: { ports: [{ port: 80 }] } }),
  ]
  for (const { status, body } of made) equal(status, 201, JSON.stringify(body))
}

const bindingTo = (name: string) => ({ metadata: { name }, target: { apiVersion: 'v1', kind: 'Node', name: 'n' } })
const core = (kind: string) => ({ group: '', version: 'v1', kind })
const upgrade = { upgrade: 'websocket', connection: 'Upgrade' }
const merge = { 'content-type': 'application/merge-patch+json' }

interface Row {
  readonly why: string
  readonly call: readonly [method: string, path: string, body?: object | undefined, headers?: Record<string, string>]
  readonly operation: string
  readonly resource: string
  readonly subresource?: string
  readonly name: string
  readonly kind: { readonly group: string; readonly version: string; readonly kind: string }
  /** The value in the object of the review, and in the old object. */
  readonly object: object | null
  readonly old?: object
  readonly options?: object | null
}

const rows: readonly Row[] = [
  {
    why: 'a command in a container',
    call: ['POST', `${namespaced}/pods/bound/exec?command=ls&command=-l&stdin=true&container=c`, undefined, upgrade],
    operation: 'CONNECT',
    resource: 'pods',
    subresource: 'exec',
    name: 'bound',
    kind: core('PodExecOptions'),
    object: { kind: 'PodExecOptions', apiVersion: 'v1', stdin: true, container: 'c', command: ['ls', '-l'] },
    options: null,
  },
  {
    why: 'a terminal',
    call: ['GET', `${namespaced}/pods/bound/attach?stdout=1&tty=true`, undefined, upgrade],
    operation: 'CONNECT',
    resource: 'pods',
    subresource: 'attach',
    name: 'bound',
    kind: core('PodAttachOptions'),
    object: { kind: 'PodAttachOptions', apiVersion: 'v1', stdout: true, tty: true },
    options: null,
  },
  {
    why: 'ports',
    call: ['GET', `${namespaced}/pods/bound/portforward?ports=80&ports=81`, undefined, upgrade],
    operation: 'CONNECT',
    resource: 'pods',
    subresource: 'portforward',
    name: 'bound',
    kind: core('PodPortForwardOptions'),
    object: { kind: 'PodPortForwardOptions', apiVersion: 'v1', ports: [80, 81] },
    options: null,
  },
  {
    why: 'a page of a pod',
    call: ['GET', `${namespaced}/pods/bound/proxy/index.html`],
    operation: 'CONNECT',
    resource: 'pods',
    subresource: 'proxy',
    name: 'bound',
    kind: core('PodProxyOptions'),
    object: { kind: 'PodProxyOptions', apiVersion: 'v1', path: '/index.html' },
    options: null,
  },
  {
    why: 'a page of a service',
    call: ['GET', `${namespaced}/services/s/proxy/`],
    operation: 'CONNECT',
    resource: 'services',
    subresource: 'proxy',
    name: 's',
    kind: core('ServiceProxyOptions'),
    object: { kind: 'ServiceProxyOptions', apiVersion: 'v1' },
    options: null,
  },
  {
    why: 'a page of a kubelet',
    call: ['GET', '/api/v1/nodes/n/proxy/metrics'],
    operation: 'CONNECT',
    resource: 'nodes',
    subresource: 'proxy',
    name: 'n',
    kind: core('NodeProxyOptions'),
    object: { kind: 'NodeProxyOptions', apiVersion: 'v1', path: '/metrics' },
    options: null,
  },
  {
    why: 'a binding',
    call: ['POST', `${namespaced}/pods/free/binding`, bindingTo('free')],
    operation: 'CREATE',
    resource: 'pods',
    subresource: 'binding',
    name: 'free',
    kind: core('Binding'),
    object: { kind: 'Binding', apiVersion: 'v1', target: bindingTo('free').target },
  },
  {
    why: 'a binding under its old name',
    call: ['POST', `${namespaced}/bindings`, bindingTo('free')],
    operation: 'CREATE',
    resource: 'bindings',
    name: 'free',
    kind: core('Binding'),
    object: { kind: 'Binding', apiVersion: 'v1', target: bindingTo('free').target },
  },
  {
    why: 'an eviction',
    call: ['POST', `${namespaced}/pods/free/eviction`, { metadata: { name: 'free' } }],
    operation: 'CREATE',
    resource: 'pods',
    subresource: 'eviction',
    name: 'free',
    kind: { group: 'policy', version: 'v1', kind: 'Eviction' },
    object: { kind: 'Eviction', apiVersion: 'policy/v1' },
  },
  {
    why: 'a token',
    call: ['POST', `${namespaced}/serviceaccounts/default/token`, { spec: { audiences: ['a'] } }],
    operation: 'CREATE',
    resource: 'serviceaccounts',
    subresource: 'token',
    name: 'default',
    kind: { group: 'authentication.k8s.io', version: 'v1', kind: 'TokenRequest' },
    object: { kind: 'TokenRequest', spec: { audiences: ['a'], boundObjectRef: null, expirationSeconds: 3600 } },
  },
  {
    why: 'a number of replicas',
    call: ['PATCH', `${apps}/d/scale?fieldManager=me`, { spec: { replicas: 3 } }, merge],
    operation: 'UPDATE',
    resource: 'deployments',
    subresource: 'scale',
    name: 'd',
    kind: { group: 'autoscaling', version: 'v1', kind: 'Scale' },
    object: { kind: 'Scale', apiVersion: 'autoscaling/v1', spec: { replicas: 3 } },
    old: { kind: 'Scale', spec: { replicas: 1 } },
    options: { kind: 'UpdateOptions', apiVersion: 'meta.k8s.io/v1', fieldManager: 'me' },
  },
  {
    why: 'a status',
    call: ['PATCH', `${namespaced}/pods/bound/status`, { status: { phase: 'Running' } }, merge],
    operation: 'UPDATE',
    resource: 'pods',
    subresource: 'status',
    name: 'bound',
    kind: core('Pod'),
    object: { kind: 'Pod' },
    old: { kind: 'Pod' },
    options: { kind: 'UpdateOptions', apiVersion: 'meta.k8s.io/v1' },
  },
  {
    why: 'the end of a pod',
    call: ['DELETE', `${namespaced}/pods/free`, { gracePeriodSeconds: 0, propagationPolicy: 'Background' }],
    operation: 'DELETE',
    resource: 'pods',
    name: 'free',
    kind: core('Pod'),
    object: null,
    old: { kind: 'Pod' },
    options: {
      kind: 'DeleteOptions',
      apiVersion: 'meta.k8s.io/v1',
      gracePeriodSeconds: 0,
      propagationPolicy: 'Background',
    },
  },
]

function pick(value: object | null, like: object): object {
  return Object.fromEntries(Object.keys(like).map((name) => [name, value?.[name as keyof object]]))
}

for (const row of rows)
  test(`mutating and validating webhooks each receive ${row.why} once, as it was sent`, async () => {
    await using hooks = await webhookServer(() => ({}))
    await using server = await startHooked(undefined, { reviews })
    await furnish(server)
    await register(server, 'mutating', webhook(hooks, everything))
    await register(server, 'validating', webhook(hooks, everything))
    const { body } = await server.call(...row.call)
    equal(hooks.asked.length, 2, JSON.stringify(body))
    for (const { request } of hooks.asked) {
      const { kind, requestKind, resource, requestResource, subResource, requestSubResource } = request
      deepEqual([request.operation, request.name], [row.operation, row.name])
      deepEqual([kind, requestKind], [row.kind, row.kind])
      deepEqual([resource.resource, requestResource.resource], [row.resource, row.resource])
      deepEqual([subResource, requestSubResource], [row.subresource, row.subresource])
      if (row.object === null) equal(request.object, null)
      else deepEqual(pick(request.object, row.object), row.object)
      if (row.old === undefined) equal(request.oldObject, null)
      else if (row.subresource === 'scale') equal(request.oldObject.spec.replicas, 1)
      else deepEqual(pick(request.oldObject, row.old), row.old)
      if (row.options !== undefined) deepEqual(request.options, row.options)
    }
  })

const denyingRows = rows.filter(({ resource }) => resource !== 'nodes')
for (const { why, call, operation, resource, subresource, name } of denyingRows)
  test(`a policy may reject ${why} by operation, resource and namespace`, async () => {
    await using server = await startServer({ ...openPolicies, reviews })
    await furnish(server)
    const resources = [subresource === undefined ? resource : `${resource}/${subresource}`]
    const apiGroups = [resource === 'deployments' ? 'apps' : '']
    const make = async (plural: string, spec: object) => {
      const { status, body } = await server.call('POST', `${registration}/${plural}`, { metadata: { name: 'p' }, spec })
      equal(status, 201, JSON.stringify(body))
    }
    const expression =
      `request.subResource == '${subresource ?? ''}' && namespaceObject.metadata.name == 'default' ` +
      `&& has(object.kind) && object.kind == 'Nothing'`
    await make('validatingadmissionpolicies', {
      matchConstraints: { resourceRules: [{ operations: [operation], apiGroups, apiVersions: ['v1'], resources }] },
      validations: [{ expression: operation === 'DELETE' ? 'object != null' : expression, message: 'not here' }],
    })
    await make('validatingadmissionpolicybindings', { policyName: 'p', validationActions: ['Deny'] })
    const { status, body } = await server.call(...call)
    deepEqual([status, body.reason], [422, 'Invalid'], JSON.stringify(body))
    const what = resource === 'deployments' ? 'deployments.apps' : resource
    equal(
      body.message,
      `${what} "${name}" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'p' denied request: not here`,
    )
  })

test('changes by a webhook take effect: replicas, labels of a binding, the command of a connection', async () => {
  const answers: Record<string, object> = {
    scale: patchWith({ op: 'replace', path: '/spec/replicas', value: 2 }),
    binding: patchWith({ op: 'add', path: '/metadata/labels', value: { zone: 'z' } }),
    exec: patchWith({ op: 'replace', path: '/command', value: ['id'] }),
    token: patchWith({ op: 'replace', path: '/spec/expirationSeconds', value: 700 }),
  }
  await using hooks = await webhookServer(({ request }: Asked) => answers[request.subResource] ?? {})
  const calls: KubeletCall[] = []
  const kubelets = {
    call(call: KubeletCall) {
      calls.push(call)
      return Promise.resolve({ status: 200, headers: {}, body: '' })
    },
    callPod: () => Promise.reject(new Error('no call is expected')),
  }
  await using server = await startHooked(undefined, { reviews }, { kubelets })
  await furnish(server)
  await register(server, 'mutating', webhook(hooks, everything))
  const scaled = await server.call('PUT', `${apps}/d/scale`, { metadata: { name: 'd' }, spec: { replicas: 5 } })
  equal(scaled.body.spec.replicas, 2)
  const { body } = await server.call('GET', `${apps}/d`)
  deepEqual([body.spec.replicas, body.metadata.generation], [2, 2])
  equal((await server.call('POST', `${namespaced}/pods/free/binding`, bindingTo('free'))).status, 201)
  deepEqual((await server.call('GET', `${namespaced}/pods/free`)).body.metadata.labels, { zone: 'z' })
  await server.call('POST', `${namespaced}/pods/bound/exec?command=sh&stdout=true`, undefined, upgrade)
  match(calls[0]?.path ?? '', /^\/exec\/default\/bound\/c\?output=1&command=id$/)
  const token = await server.call('POST', `${namespaced}/serviceaccounts/default/token`, { spec: {} })
  equal(token.body.spec.expirationSeconds, 700)
})

test('access reviews are sent to webhooks, but not to policies', async () => {
  await using hooks = await webhookServer(() => ({ allowed: false, status: { message: 'no' } }))
  await using server = await startHooked(undefined, { reviews })
  const review = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews'
  const ask = () => server.call('POST', review, { spec: { resourceAttributes: { verb: 'get', resource: 'pods' } } })
  const policy = { metadata: { name: 'p' }, spec: {} }
  await server.call('POST', `${registration}/validatingadmissionpolicies`, {
    ...policy,
    spec: { matchConstraints: { resourceRules: everything.rules }, validations: [{ expression: 'false' }] },
  })
  await server.call('POST', `${registration}/validatingadmissionpolicybindings`, {
    ...policy,
    spec: { policyName: 'p', validationActions: ['Deny'] },
  })
  equal((await ask()).status, 201)
  await register(server, 'validating', webhook(hooks, everything))
  match((await ask()).body.message, /denied the request: no$/)
  equal(hooks.asked[0]?.request.kind.kind, 'SelfSubjectAccessReview')
})
