// An extension server in its own process: it serves one object, as fast as this machine can. It prints its port and CA.
import { realClock } from '../../src/base/time/clock.ts'
import { systemRandom } from '../../src/base/random/random.ts'
import { Authority } from '../../src/pki/authority.ts'
import { nodeCrypto } from '../../src/platform/node/crypto.ts'
import { nodeListeners } from '../../src/platform/node/http/listener.ts'
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
const listener = await nodeListeners.listen({
  host: '127.0.0.1',
  port: 0,
  tls: { ...identity, clientAuthorities: {} },
  handle: ({ target }) =>
    target.includes('/flowers')
      ? { status: 200, headers, body: flower }
      : { status: target === `/apis/${apiVersion}` ? 200 : 404, headers, body: list },
})
process.stdout.write(`${JSON.stringify({ port: listener.port, authority: authority.certificate })}\n`)
