// A kube-apiserver with etcd to be compared in the same run.
import { spawn } from 'node:child_process'
import { generateKeyPairSync } from 'node:crypto'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { createServer, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { realClock } from '../../src/base/time/clock.ts'
import { systemRandom } from '../../src/base/random/random.ts'
import { Authority } from '../../src/pki/authority.ts'
import { nodeCrypto } from '../../src/platform/node/crypto.ts'
import { EtcdCluster } from '../../test/etcd.ts'
import { until } from '../../test/until.ts'
import type { Access } from '../../test/access.ts'
import { Client } from './client.ts'

export interface RunningServer extends AsyncDisposable {
  readonly access: Access
  readonly pid: number
  readonly etcdPids: readonly number[]
}

const host = '127.0.0.1'

interface Executables {
  readonly etcd: string
  readonly server: string
}

export async function startKubeApiserver(executables: Executables): Promise<RunningServer> {
  const etcd = await EtcdCluster.start({ version: '', path: executables.etcd }, 1)
  const port = await freePort()
  const { files, access } = identities(port)
  // They are removed with the directory of etcd.
  const file = (name: string) => join(etcd.directory, `kube-apiserver-${name}`)
  for (const [name, content] of Object.entries(files)) await writeFile(file(name), content, { mode: 0o600 })
  const flags = {
    'bind-address': host,
    'advertise-address': host,
    'secure-port': String(port),
    'authorization-mode': 'Node,RBAC',
    'client-ca-file': file('ca.crt'),
    'tls-cert-file': file('server.crt'),
    'tls-private-key-file': file('server.key'),
    'etcd-servers': etcd.endpoints.join(','),
    'etcd-cafile': etcd.files.authority,
    'etcd-certfile': etcd.files.certificate,
    'etcd-keyfile': etcd.files.key,
    'endpoint-reconciler-type': 'none',
    'service-account-issuer': 'https://kubernetes.default.svc.cluster.local',
    'service-account-key-file': file('accounts.pub'),
    'service-account-signing-key-file': file('accounts.key'),
    'service-cluster-ip-range': '10.96.0.0/12',
  }
  const args = Object.entries(flags).map(([name, value]) => `--${name}=${value}`)
  const child = spawn(executables.server, args, { stdio: 'ignore' })
  const exited = once(child, 'exit')
  const end = async () => {
    child.kill('SIGKILL')
    await exited
    await etcd[Symbol.asyncDispose]()
  }
  try {
    await until(() => isReady(access))
  } catch (error) {
    await end()
    throw error
  }
  return { access, pid: child.pid ?? 0, etcdPids: etcd.pids, [Symbol.asyncDispose]: end }
}

function identities(port: number): { readonly files: Record<string, string>; readonly access: Access } {
  const authority = Authority.create('kubernetes', { clock: realClock, random: systemRandom, crypto: nodeCrypto })
  const server = authority.issue({
    subject: { commonName: 'kube-apiserver', organizations: [] },
    uses: ['server'],
    addresses: [host],
  })
  const admin = authority.issue({
    subject: { commonName: 'kubernetes-admin', organizations: ['system:masters'] },
    uses: ['client'],
  })
  const accounts = generateKeyPairSync('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  })
  return {
    files: {
      'ca.crt': authority.certificate,
      'server.crt': server.certificate,
      'server.key': server.key,
      'accounts.pub': accounts.publicKey,
      'accounts.key': accounts.privateKey,
    },
    access: { host, port, ca: authority.certificate, cert: admin.certificate, key: admin.key },
  }
}

async function isReady(access: Access): Promise<boolean> {
  const client = new Client(access)
  const answer = await client.send('GET', '/readyz').catch(() => undefined)
  client.close()
  return answer?.status === 200
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, host)
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}
