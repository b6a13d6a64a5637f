// An extension server in its own process: it serves one object over HTTP/1.1. It prints its port and CA.
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { realClock } from '../../src/base/time/clock.ts'
import { systemRandom } from '../../src/base/random/random.ts'
import { Authority } from '../../src/pki/authority.ts'
import { nodeCrypto } from '../../src/platform/node/crypto.ts'
import { benchGroup, benchServerName } from './names.ts'

const authority = Authority.create('bench-ca', { clock: realClock, random: systemRandom, crypto: nodeCrypto })
const identity = authority.issue({
  subject: { commonName: 'bench', organizations: [] },
  uses: ['server'],
  dnsNames: [benchServerName],
})
const apiVersion = `${benchGroup}/v1`
const resources = [{ name: 'flowers', singularName: 'flower', namespaced: true, kind: 'Flower', verbs: ['get'] }]
const list = JSON.stringify({ kind: 'APIResourceList', apiVersion: 'v1', groupVersion: apiVersion, resources })
const flower = JSON.stringify({
  kind: 'Flower',
  apiVersion,
  metadata: { name: 'rose', namespace: 'default', uid: '6a1b7c1e-8a43-4f0b-9f5e-6a3c4d1b2e10', resourceVersion: '1' },
  spec: { colour: 'red', petals: 32, labels: { a: 'b', c: 'd' } },
})
const headers = { 'content-type': 'application/json' }
const server = createServer({ cert: identity.certificate, key: identity.key }, ({ url = '' }, response) => {
  const isObject = url.includes('/flowers')
  response.writeHead(isObject || url === `/apis/${apiVersion}` ? 200 : 404, headers)
  response.end(isObject ? flower : list)
})
server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo
  process.stdout.write(`${JSON.stringify({ port, authority: authority.certificate })}\n`)
})
