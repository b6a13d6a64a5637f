// A stolen node credential, tried against the real port: everything that it can read and write, and the identities that it can
// obtain. docs/security.md lists the same.
import { deepEqual, equal, ok } from 'node:assert/strict'
import { test } from 'node:test'
import { certificateRequestPem } from '../../src/pki/certificate-request.ts'
import type { Outbound } from '../../src/platform/http/outbound.ts'
import { nodePlatform } from '../../src/platform/node/platform.ts'
import { until } from '../until.ts'
import { startServed } from './served.harness.ts'
import { agentTokenOf, networkRows, nodeRows, other, provisionerRows, stolen, type Row } from './stolen-node.rows.ts'

type Served = Awaited<ReturnType<typeof startServed>>
/** The client certificate of the node, or a token. */
type Credential = { readonly outbound: Outbound; readonly token?: string }

const inDefault = '/api/v1/namespaces/default'
const requests = '/apis/certificates.k8s.io/v1/certificatesigningrequests'
const merge = { 'content-type': 'application/merge-patch+json' }

/** Objects of a pod on the stolen node (`mine`) and of one on another node (`theirs`). */
async function populate({ asAdmin }: Served): Promise<void> {
  const make = async (path: string, object: object) => {
    const { status, text } = await asAdmin('POST', path, object)
    equal(status, 201, `${path}: ${text}`)
  }
  for (const name of ['of-node-publish', 'of-controller-publish'])
    await make(`${inDefault}/secrets`, { metadata: { name } })
  for (const [name, nodeName] of [
    ['mine', stolen],
    ['theirs', other],
  ] as const) {
    const metadata = { name }
    for (const resource of ['secrets', 'configmaps', 'serviceaccounts'])
      await make(`${inDefault}/${resource}`, { metadata })
    const size = { resources: { requests: { storage: '1Gi' } }, accessModes: ['ReadWriteOnce'] }
    await make(`${inDefault}/persistentvolumeclaims`, {
      metadata,
      spec: { ...size, storageClassName: '', volumeName: name },
    })
    const reference = (secret: string) => ({ name: secret, namespace: 'default' })
    await make('/api/v1/persistentvolumes', {
      metadata,
      spec: {
        capacity: { storage: '1Gi' },
        accessModes: ['ReadWriteOnce'],
        claimRef: { namespace: 'default', name },
        csi: {
          driver: 'd.example.com',
          volumeHandle: name,
          nodePublishSecretRef: reference('of-node-publish'),
          controllerPublishSecretRef: reference('of-controller-publish'),
        },
      },
    })
    await make('/apis/storage.k8s.io/v1/volumeattachments', {
      metadata,
      spec: { attacher: 'd.example.com', nodeName, source: { persistentVolumeName: name } },
    })
    await make('/apis/resource.k8s.io/v1/namespaces/default/resourceclaims', { metadata, spec: {} })
    const pool = { name: nodeName, resourceSliceCount: 1, generation: 1 }
    await make('/apis/resource.k8s.io/v1/resourceslices', {
      metadata,
      spec: { nodeName, driver: 'd.example.com', pool },
    })
    await make(`${inDefault}/pods`, {
      metadata,
      spec: {
        nodeName,
        serviceAccountName: name,
        containers: [{ name: 'c', image: 'i' }],
        resourceClaims: [{ name: 'r', resourceClaimName: name }],
        volumes: [
          { name: 's', secret: { secretName: name } },
          { name: 'c', configMap: { name } },
          { name: 'p', persistentVolumeClaim: { claimName: name } },
        ],
      },
    })
  }
}

/** The uids that rows name as `<uid of …>`. */
async function uidsOf({ asAdmin }: Served): Promise<ReadonlyMap<string, string>> {
  const uidOf = async (path: string) => {
    const { body } = await asAdmin('GET', path)
    return (body as { metadata: { uid: string } }).metadata.uid
  }
  const nodes = '/api/v1/nodes'
  const pods = `${inDefault}/pods`
  return new Map([
    ...(await Promise.all([stolen, other].map(async (name) => [name, await uidOf(`${nodes}/${name}`)] as const))),
    ...(await Promise.all(['mine', 'theirs'].map(async (name) => [name, await uidOf(`${pods}/${name}`)] as const))),
  ])
}

const closing = (outbound: Outbound) => ({ outbound, [Symbol.asyncDispose]: () => outbound.close() })

async function startStolen() {
  const served = await startServed({}, {}, 2)
  const nodesExist = async () =>
    (await Promise.all([stolen, other].map((name) => served.asAdmin('GET', `/api/v1/nodes/${name}`)))).every(
      ({ status }) => status === 200,
    )
  await until(nodesExist)
  const csiNodes = '/apis/storage.k8s.io/v1/csinodes'
  for (const name of [stolen, other])
    await served.asAdmin('POST', csiNodes, { metadata: { name }, spec: { drivers: [] } })
  await populate(served)
  const uids = await uidsOf(served)
  const withUids = (body: object): object =>
    JSON.parse(JSON.stringify(body).replaceAll(/<uid of ([\w-]+)>/g, (_, of: string) => uids.get(of) ?? '')) as object
  const withCertificate = served.connect(served.identityOf(`system:node:${stolen}`, 'system:nodes'))
  const bare = served.connect()
  const node: Credential = { outbound: withCertificate }
  const send = ({ outbound, token }: Credential, request: string, body?: object) => {
    const [method = '', target = ''] = request.split(' ')
    const headers = method === 'PATCH' ? merge : {}
    return served.callOver(outbound, method, target, {
      headers,
      ...(token === undefined ? {} : { token }),
      ...(body === undefined ? {} : { body: withUids(body) }),
    })
  }
  /** The token of an agent, requested with the node's certificate. */
  const agentToken = async (agent: string): Promise<Credential> => {
    const path = `/api/v1/namespaces/kube-system/serviceaccounts/${agent}/token`
    const { body } = await send(node, `POST ${path}`, agentTokenOf(stolen))
    return { outbound: bare, token: body.status?.token ?? '' }
  }
  const dispose = async () => {
    await Promise.all([withCertificate.close(), bare.close()])
    await served[Symbol.asyncDispose]()
  }
  return { served, node, send, agentToken, [Symbol.asyncDispose]: dispose }
}

type World = Awaited<ReturnType<typeof startStolen>>

/** All rows that were answered otherwise, so that one run shows all. */
async function differences({ send }: World, credential: Credential, rows: readonly Row[]): Promise<readonly string[]> {
  const found: string[] = []
  for (const [request, answer, body] of rows) {
    const { status, body: result, text } = await send(credential, request, body)
    const message = result.message ?? text
    const isExpected =
      typeof answer === 'number' ? status === answer : status === 403 && message.endsWith(answer === '' ? '' : answer)
    if (!isExpected) found.push(`${request} ${JSON.stringify(body ?? {})}: ${status} ${message}, not ${answer}`)
  }
  return found
}

test('a stolen node credential: each request of the list has the documented result', async () => {
  await using world = await startStolen()
  deepEqual(await differences(world, world.node, nodeRows), [])
  deepEqual(await differences(world, await world.agentToken('coxswain-network'), networkRows), [])
  deepEqual(await differences(world, await world.agentToken('coxswain-local-path'), provisionerRows), [])
})

test('tokens of agents end with their Node', async () => {
  await using world = await startStolen()
  const { served, send, agentToken } = world
  const token = await agentToken('coxswain-network')
  equal((await send(token, 'GET /api/v1/services')).status, 200)
  const claims = JSON.parse(atob((token.token ?? '').split('.')[1] ?? '')) as { aud: string[] }
  ok(claims.aud.length > 0, 'the token is for the API server')
  await served.asAdmin('DELETE', `/api/v1/nodes/${stolen}`)
  await until(async () => (await send(token, 'GET /api/v1/services')).status === 401)
})

test('a node that registers gets its range from the allocator, whatever range it names', async () => {
  await using world = await startStolen()
  const { served, send } = world
  const name = 'new'
  await using outbound = closing(served.connect(served.identityOf(`system:node:${name}`, 'system:nodes')))
  const register = (spec: object) => send(outbound, 'POST /api/v1/nodes', { metadata: { name }, spec })
  const rangesOf = async (node: string) => {
    const { body } = await served.asAdmin('GET', `/api/v1/nodes/${node}`)
    return (body as { spec?: { podCIDRs?: string[] } }).spec?.podCIDRs ?? []
  }
  const [theirs = ''] = await rangesOf(other)
  const rejected = `nodes "${name}" is forbidden: node "${name}" is not allowed to set podCIDRs`
  for (const cidr of ['0.0.0.0/0', '10.96.0.0/16', theirs])
    for (const spec of [{ podCIDR: cidr }, { podCIDRs: [cidr] }, { podCIDR: cidr, podCIDRs: [cidr] }]) {
      const { status, body } = await register(spec)
      deepEqual([status, body.message], [403, rejected], JSON.stringify(spec))
    }
  equal((await register({})).status, 201)
  await until(async () => (await rangesOf(name)).length > 0)
  const [own = ''] = await rangesOf(name)
  const others = [...(await rangesOf(stolen)), theirs]
  ok(/^10\.244\.\d+\.0\/24$/.test(own) && !others.includes(own), `${own} is not one of ${others.join()}`)
})

const key = nodePlatform.crypto.generateKey()
const signingRequest = (name: string, signer: string, commonName: string, organizations: readonly string[]) => ({
  metadata: { name },
  spec: {
    request: btoa(certificateRequestPem({ subject: { commonName, organizations } }, key)),
    signerName: `kubernetes.io/${signer}`,
    usages: ['digital signature', 'client auth'],
  },
})

test('a node requests certificates of its own name only, and approves none', async () => {
  await using world = await startStolen()
  const { node, send, served } = world
  const nodes = ['system:nodes']
  const client = 'kube-apiserver-client'
  const kubelet = 'kube-apiserver-client-kubelet'
  const otherCn = `can only create a node CSR with CN=system:node:${stolen}`
  const rows: Row[] = [
    [`POST ${requests}`, 201, signingRequest('own', kubelet, `system:node:${stolen}`, nodes)],
    [`POST ${requests}`, otherCn, signingRequest('other', kubelet, `system:node:${other}`, nodes)],
    [`POST ${requests}`, otherCn, signingRequest('serving', 'kubelet-serving', 'system:node:kubernetes', nodes)],
    // As upstream, who may create requests may request any name; such requests are not approved automatically.
    [`POST ${requests}`, 201, signingRequest('user', client, 'jane', [])],
    [
      `POST ${requests}`,
      'use of kubernetes.io/kube-apiserver-client signer with system:masters group is not allowed',
      signingRequest('admin', client, 'jane', ['system:masters']),
    ],
    [`PATCH ${requests}/own/approval`, '', { status: {} }],
    [`PATCH ${requests}/own/status`, '', { status: {} }],
    [`DELETE ${requests}/own`, ''],
  ]
  deepEqual(await differences(world, node, rows), [])
  // The approver has handled the requests before one that it approves.
  const binding = 'system:certificates.k8s.io:certificatesigningrequests:selfnodeclient'
  await served.asAdmin('POST', '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings', {
    metadata: { name: 'renewal' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: binding },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'Group', name: 'system:nodes' }],
  })
  const renewal = signingRequest('renewal', kubelet, `system:node:${stolen}`, nodes)
  equal((await send(node, `POST ${requests}`, renewal)).status, 201)
  const statusOf = async (name: string) =>
    (await served.asAdmin('GET', `${requests}/${name}`)).body.status as { conditions?: object[]; certificate?: string }
  await until(async () => (await statusOf('renewal')).certificate !== undefined)
  deepEqual(await statusOf('user'), {})
})

/** Pairs that authorizers decide about although no resource is served: of kubelets' ports, impersonation and escalation. */
const withoutEndpoint = [
  ...['proxy', 'pods', 'log', 'metrics', 'stats', 'configz', 'healthz', 'checkpoint', 'spec'].flatMap((subresource) =>
    ['get', 'create'].map((verb) => ({ group: '', resource: 'nodes', subresource, verb })),
  ),
  ...['users', 'groups', 'serviceaccounts'].flatMap((resource) =>
    ['impersonate', 'impersonate:user-info'].map((verb) => ({ group: '', resource, subresource: '', verb })),
  ),
  ...['bind', 'escalate'].flatMap((verb) =>
    ['roles', 'clusterroles'].map((resource) => ({
      group: 'rbac.authorization.k8s.io',
      resource,
      subresource: '',
      verb,
    })),
  ),
  ...['approve', 'sign', 'attest'].map((verb) => ({
    group: 'certificates.k8s.io',
    resource: 'signers',
    subresource: '',
    verb,
  })),
]

interface Discovered {
  readonly resources: readonly { readonly name: string; readonly verbs: readonly string[] }[]
}

test('of all resources and verbs, a node and its agents are allowed those of upstream and no others', async () => {
  await using world = await startStolen()
  const { node, send, agentToken, served } = world
  const groups = (await served.asAdmin('GET', '/apis')).body as unknown as {
    groups: { name: string; preferredVersion: { groupVersion: string } }[]
  }
  const places = [
    ['', '/api/v1'],
    ...groups.groups.map(({ name, preferredVersion }) => [name, `/apis/${preferredVersion.groupVersion}`]),
  ] as const
  const asked: { group: string; resource: string; subresource: string; verb: string }[] = []
  for (const [group = '', path] of places) {
    const { resources } = (await served.asAdmin('GET', path ?? '')).body as unknown as Discovered
    for (const { name, verbs } of resources) {
      const [resource = '', subresource = ''] = name.split('/')
      for (const verb of verbs) asked.push({ group, resource, subresource, verb })
    }
  }
  asked.push(...withoutEndpoint)
  ok(asked.length > 500, `${asked.length} pairs of a resource and a verb`)
  const allowedTo = async (credential: Credential) => {
    const reviews = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews'
    const allowed = new Map<string, string[]>()
    for (const { verb, ...on } of asked) {
      const spec = { resourceAttributes: { verb, ...on } }
      const { body } = await send(credential, `POST ${reviews}`, { spec })
      if ((body.status as { allowed?: boolean }).allowed !== true) continue
      const name = [on.resource, on.subresource].filter(Boolean).join('/') + (on.group === '' ? '' : `.${on.group}`)
      allowed.set(name, [...(allowed.get(name) ?? []), verb])
    }
    return Object.fromEntries([...allowed].map(([name, verbs]) => [name, verbs.toSorted().join(' ')]))
  }
  const everyone = {
    'selfsubjectreviews.authentication.k8s.io': 'create',
    'selfsubjectaccessreviews.authorization.k8s.io': 'create',
    'selfsubjectrulesreviews.authorization.k8s.io': 'create',
  }
  const events = { events: 'create patch update', 'events.events.k8s.io': 'create patch update' }
  // Without the name of an object: what concerns one object is in the list of requests.
  deepEqual(await allowedTo(node), {
    ...everyone,
    ...events,
    endpoints: 'get',
    nodes: 'create patch update',
    'nodes/status': 'patch update',
    pods: 'create delete',
    'pods/eviction': 'create',
    'pods/status': 'patch update',
    services: 'get list watch',
    'certificatesigningrequests.certificates.k8s.io': 'create get list watch',
    'csidrivers.storage.k8s.io': 'get list watch',
    'csinodes.storage.k8s.io': 'create',
    'localsubjectaccessreviews.authorization.k8s.io': 'create',
    'resourceslices.resource.k8s.io': 'create',
    'runtimeclasses.node.k8s.io': 'get list watch',
    'subjectaccessreviews.authorization.k8s.io': 'create',
    'tokenreviews.authentication.k8s.io': 'create',
  })
  deepEqual(await allowedTo(await agentToken('coxswain-network')), {
    ...everyone,
    ...events,
    endpoints: 'list watch',
    namespaces: 'list watch',
    nodes: 'get list watch',
    pods: 'list watch',
    services: 'list watch',
    'endpointslices.discovery.k8s.io': 'list watch',
    'networkpolicies.networking.k8s.io': 'list watch',
    'servicecidrs.networking.k8s.io': 'list watch',
  })
  deepEqual(await allowedTo(await agentToken('coxswain-local-path')), {
    ...everyone,
    persistentvolumeclaims: 'list watch',
    persistentvolumes: 'create delete list patch watch',
    'storageclasses.storage.k8s.io': 'list watch',
  })
})
