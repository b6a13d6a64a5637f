// Proxied requests to pods and services: where they go, and the responses that kube-apiserver v1.36 gives where they cannot
// go anywhere.
import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import type { KubeletConnection, PodCall } from '../../kubelet-client/kubelet-connection.ts'
import { noKubelets } from '../../kubelet-client/kubelet-connection.ts'
import { openPolicies } from '../../open-policies.ts'
import { startServer, type Harness } from '../../server.harness.ts'

const home = '/api/v1/namespaces/default'
const merge = { 'content-type': 'application/merge-patch+json' }
const ports = [
  { name: 'http', port: 80 },
  { name: 'https', port: 443 },
]
const targets = [
  { name: 'http', port: 8080 },
  { name: 'https', port: 8443 },
]
const subset = (ip: string, name: string) => ({
  addresses: [{ ip, targetRef: { kind: 'Pod', namespace: 'default', name } }],
  ports: targets,
})

async function prepared(calls: PodCall[]): Promise<Harness> {
  const kubelets: KubeletConnection = {
    ...noKubelets,
    callPod(call) {
      calls.push(call)
      const headers = { 'content-type': 'text/html', location: 'http://api.test/there', 'cache-control': 'max-age=5' }
      return Promise.resolve({ status: 200, headers, body: '<a href="/x">' })
    },
  }
  const server = await startServer(openPolicies, { kubelets })
  for (const [name, ip] of [
    ['p', '10.1.0.7'],
    ['loop', '127.0.0.1'],
    ['new', ''],
    ['portless', '10.1.0.8'],
  ]) {
    const declared = name === 'portless' ? [] : [{ name: 'web', containerPort: 8080 }]
    const containers = [{ name: 'c', image: 'i', ports: declared }]
    await server.call('POST', `${home}/pods`, { metadata: { name }, spec: { nodeName: 'n', containers } })
    const status = { podIP: ip, podIPs: [{ ip }] }
    if (ip !== '') await server.call('PATCH', `${home}/pods/${name}/status`, { status }, merge)
  }
  const made: [name: string, spec: object, subsets?: object[]][] = [
    ['web', { ports }, [subset('10.1.0.7', 'p')]],
    ['stranger', { ports }, [subset('10.1.0.9', 'p')]],
    ['gone', { ports }, [subset('10.1.0.9', 'none')]],
    ['unnamed', { ports: [{ port: 80 }] }, [{ ...subset('10.1.0.7', 'p'), ports: [{ port: 8080 }] }]],
    ['empty', { ports }, []],
    ['bare', { ports }],
    ['alias', { type: 'ExternalName', externalName: 'example.com' }],
  ]
  for (const [name, spec, subsets] of made) {
    await server.call('POST', `${home}/services`, { metadata: { name }, spec })
    if (subsets !== undefined) await server.call('POST', `${home}/endpoints`, { metadata: { name }, subsets })
  }
  return server
}

const reached: [name: string, origin: string][] = [
  ['services/web:http', 'http://10.1.0.7:8080'],
  ['services/web:80', 'http://10.1.0.7:8080'],
  ['services/http:web:443', 'http://10.1.0.7:8443'],
  ['services/https:web:https', 'https://10.1.0.7:8443'],
  ['services/https:web:443', 'https://10.1.0.7:8443'],
  ['services/unnamed:80', 'http://10.1.0.7:8080'],
  ['services/unnamed', 'http://10.1.0.7:8080'],
  ['pods/p', 'http://10.1.0.7:8080'],
  ['pods/p:web', 'http://10.1.0.7:8080'],
  ['pods/portless', 'http://10.1.0.8:80'],
  ['pods/https:portless:', 'https://10.1.0.8:443'],
  ['pods/p:9000', 'http://10.1.0.7:9000'],
  ['pods/https:p:8443', 'https://10.1.0.7:8443'],
]

test('a request goes to the address and the port that its name selects, with the host that the client named', async () => {
  const calls: PodCall[] = []
  await using server = await prepared(calls)
  for (const [name, origin] of reached) {
    const { status, headers, body } = await server.call('GET', `${home}/${name}/proxy/a?b=c`, undefined, {
      host: 'api.test',
    })
    const root = `${home}/${name}/proxy`
    equal(status, 200, name)
    deepEqual(headers['location'], `http://api.test${root}/there`)
    deepEqual(headers['cache-control'], ['no-cache, private', 'max-age=5'])
    equal(body, `<a href="${root}/x">`)
    const call = calls.pop()
    deepEqual([call?.origin, call?.host, call?.path], [origin, 'api.test', '/a?b=c'])
  }
})

const rejected: [name: string, status: number, message: string][] = [
  ['services/none', 404, 'services "none" not found'],
  ['services/bare:http', 404, 'services "bare" not found'],
  ['services/alias', 404, 'services "alias" not found'],
  ['services/alias:80', 503, 'no service port 80 found for service "alias"'],
  ['services/empty:http', 503, 'no endpoints available for service "empty"'],
  ['services/web', 503, 'no endpoints available for service "web"'],
  ['services/web:none', 503, 'no endpoints available for service "web:none"'],
  ['services/web:8080', 503, 'no service port 8080 found for service "web"'],
  ['services/stranger:http', 503, 'no endpoints available for service "stranger:http"'],
  ['services/gone:http', 503, 'no endpoints available for service "gone:http"'],
  ['services/ftp:web:80', 400, 'invalid service request "ftp:web:80"'],
  ['services/a:b:c:d', 400, 'invalid service request "a:b:c:d"'],
  ['pods/none', 404, 'pods "none" not found'],
  ['pods/loop:80', 400, 'address not allowed'],
  ['pods/new:80', 400, 'address not allowed'],
  ['pods/ftp:p:80', 400, 'invalid pod request "ftp:p:80"'],
]
test('a request that cannot be proxied is rejected as by upstream', async () => {
  const calls: PodCall[] = []
  await using server = await prepared(calls)
  for (const [name, status, message] of rejected) {
    const answer = await server.call('GET', `${home}/${name}/proxy/a`)
    deepEqual([name, answer.status, answer.body.message], [name, status, message])
  }
  deepEqual(calls, [])
})
