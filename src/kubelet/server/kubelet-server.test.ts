// The kubelet's server: access control, logs, errors.
import { deepEqual, equal, match } from 'node:assert/strict'
import { test } from 'node:test'
import type { Pod } from '../../api/core/v1/pod/pod.ts'
import { Client } from '../../client/client.ts'
import type { ApiCall, Transport } from '../../client/transport/transport.ts'
import { loggedContainer } from './container-logs.ts'
import { delegatedAuth, trustingApiServer } from './delegated-auth.ts'
import { type Asked, proxy, signal, startNode, textOf } from './kubelet-server.harness.ts'

const denyAll = {
  commonName: 'mallory',
  organizations: ['dev'],
  fingerprint: '',
  trustedFor: ['users'],
  validToMs: Date.UTC(2100, 0),
} as const
const answers: [why: string, target: string, asked: Asked, status: number, text: RegExp][] = [
  ['health', '/healthz', {}, 200, /^ok$/],
  ['its pods', '/pods', {}, 200, /^{"kind":"PodList","apiVersion":"v1".*"name":"web"/],
  [
    'pods that run in the runtime',
    '/runningpods/',
    {},
    200,
    /^{"kind":"PodList".*"items":\[{"metadata":{"name":"web","namespace":"default","uid":"uid"},"spec":{"containers":\[{"name":"main","image":"talks"/,
  ],
  ['an unknown path', '/nothing', {}, 404, /^404 page not found\n$/],
  ['no credentials', '/pods', { headers: { anonymous: '' } }, 401, /^Unauthorized$/],
  ['a front proxy certificate, which is no user', '/pods', { certificate: proxy }, 401, /^Unauthorized$/],
  ['an invalid token', '/pods', { headers: { authorization: 'Bearer bad' } }, 401, /^Unauthorized$/],
  ['a token with access to pods', '/pods', { headers: { authorization: 'Bearer good' } }, 200, /PodList/],
  [
    'a certificate without access',
    '/exec/default/web/main',
    { method: 'POST', certificate: denyAll },
    403,
    /^Forbidden \(user=mallory, verb=create, resource=nodes, subresource\(s\)=\[proxy\]\)\n$/,
  ],
  [
    'the specific subresource is listed first',
    '/healthz',
    { certificate: denyAll },
    403,
    /^Forbidden \(user=mallory, verb=get, resource=nodes, subresource\(s\)=\[healthz proxy\]\)\n$/,
  ],
  ['probe metrics', '/metrics/probes', {}, 200, /^prober_probe_total 1\n$/],
  ['its configuration', '/configz', {}, 200, /^{"kubeletconfig":{"kind":"KubeletConfiguration"}}$/],
  [
    'the logs of the node',
    '/logs/',
    {},
    200,
    /\n<pre>\n<a href=".\/a:b">a:b<\/a>\n<a href="a%3Cb">a&lt;b<\/a>\n<a href="deep\/">deep\/<\/a>\n<a href="what%3F">what\?<\/a>\n<\/pre>\n$/,
  ],
  ['a directory without a trailing slash', '/logs/deep', {}, 301, /^$/],
  ['one of them', '/logs/sys%20log', {}, 200, /^a line\n$/],
  ['a missing log', '/logs/none', {}, 404, /^404 page not found\n$/],
  [
    'the logs of the node are a separate subresource',
    '/logs/',
    { certificate: denyAll },
    403,
    /subresource\(s\)=\[log proxy\]/,
  ],
  ['logs', '/containerLogs/default/web/main', {}, 200, /^hello\nworld\n$/],
  ['the last line', '/containerLogs/default/web/main?tailLines=1', {}, 200, /^world\n$/],
  ['logs of an unknown pod', '/containerLogs/default/no/main', {}, 404, /^pod "no" does not exist\n$/],
  [
    'logs of a container that has not started',
    '/containerLogs/default/web/late',
    {},
    400,
    /^container "late" in pod "web" is waiting to start: ContainerCreating$/,
  ],
  ['a tail that is not a number', '/containerLogs/default/web/main?tailLines=x', {}, 400, /Unable to decode query/],
  ['exec without an upgrade', '/exec/default/web/main?output=1', {}, 400, /^Upgrade request required$/],
  ['exec without streams', '/exec/default/web/main', {}, 400, /at least 1 of stdin, stdout, stderr/],
  [
    'exec in a container that is not running',
    '/exec/default/web/late?output=1',
    { headers: { upgrade: 'SPDY/3.1' } },
    500,
    /^container not found \("late"\)$/,
  ],
  ['exec in an unknown pod', '/exec/default/no/main?output=1', {}, 404, /^pod does not exist$/],
  [
    'an unknown protocol',
    '/exec/default/web/main?output=1',
    { headers: { upgrade: 'SPDY/3.1', 'x-stream-protocol-version': 'v9' } },
    403,
    /client supports \[v9\], server accepts \[v4\.channel\.k8s\.io\]/,
  ],
  ['an invalid port', '/portForward/default/web?ports=0', {}, 400, /^unable to parse "0" as a port$/],
]
for (const [why, target, asked, status, text] of answers)
  test(`the kubelet responds: ${why}`, async () => {
    const { ask } = await startNode()
    const answer = await ask(target, asked)
    equal(answer.status, status)
    match(await textOf(answer), text)
  })

test('a followed log ends with its container', async () => {
  const { ask, end } = await startNode()
  const reading = ask('/containerLogs/default/web/main?follow=true').then(textOf)
  end()
  equal(await reading, 'hello\nworld\nbye\n')
})

const running = { running: {} }
const over = (id: string) => ({ terminated: { exitCode: 1, containerID: id } })
const chosen: [why: string, state: object, lastState: object, previous: boolean, chosen: string][] = [
  ['what runs', running, {}, false, 'now'],
  ['the previous attempt', running, over('before'), true, 'before'],
  ['no previous attempt', running, {}, true, 'previous terminated container "c" in pod "p" not found'],
  ['an exited container', over('ended'), {}, false, 'ended'],
  ['a crashed container in backoff', { waiting: { reason: 'CrashLoopBackOff' } }, over('before'), false, 'before'],
  [
    'no image',
    { waiting: { reason: 'ErrImagePull' } },
    {},
    false,
    `container "c" in pod "p" is waiting to start: image can't be pulled`,
  ],
  [
    'a failing image pull',
    { waiting: { reason: 'ImagePullBackOff' } },
    {},
    false,
    'container "c" in pod "p" is waiting to start: trying and failing to pull image',
  ],
  ['exited without an id', over(''), {}, false, 'container "c" in pod "p" is terminated'],
  ['no status', {}, {}, false, 'container "c" in pod "p" is waiting to start - no logs yet'],
]
for (const [why, state, lastState, previous, expected] of chosen)
  test(`the log of the right attempt is shown: ${why}`, () => {
    const status = { containerStatuses: [{ name: 'c', containerID: 'now', state, lastState }] }
    const pod = { metadata: { name: 'p' }, status } as unknown as Pod
    let got: string
    try {
      got = loggedContainer(pod, 'c', previous)
    } catch (error) {
      got = (error as Error).message
    }
    equal(got, expected)
  })

test('tokens and access are reviewed by the API server, except for its own calls', async () => {
  const asked: unknown[] = []
  const transport = {
    send({ body }: ApiCall) {
      asked.push(body)
      const { spec } = body as { spec: { token?: string; user?: string } }
      const user = { username: 'robot', groups: ['dev'] }
      const status =
        'token' in spec ? { authenticated: spec.token === 'good', user } : { allowed: spec.user === 'robot' }
      return Promise.resolve({ metadata: {}, spec, status })
    },
  } as unknown as Transport
  const access = trustingApiServer('api', delegatedAuth({ client: new Client(transport), nodeName: 'n' }))
  deepEqual(await access.authenticateToken('good', signal), { name: 'robot', groups: ['dev'] })
  equal(await access.authenticateToken('bad', signal), undefined)
  const may = (name: string) => access.authorize({ name, groups: ['dev'] }, 'get', 'proxy', signal)
  deepEqual([await may('robot'), await may('mallory'), await may('api')], [true, false, true])
  equal(asked.length, 4)
  const resourceAttributes = { verb: 'get', version: 'v1', resource: 'nodes', subresource: 'proxy', name: 'n' }
  deepEqual(asked[2], {
    apiVersion: 'authorization.k8s.io/v1',
    kind: 'SubjectAccessReview',
    metadata: {},
    spec: { user: 'robot', groups: ['dev'], resourceAttributes },
  })
})
