// Audit and encryption through the real port: each rejected request has its status and its audit lines, and no file
// contains secret or encrypted data in plain text.
import { deepEqual, equal, ok } from 'node:assert/strict'
import { readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { silentLog } from '../../src/base/observability/log.ts'
import { up } from '../../src/cluster/run/up.ts'
import { parseKubeconfig } from '../../src/pki/kubeconfig.ts'
import { nodePlatform } from '../../src/platform/node/platform.ts'
import { newFolder } from '../process.ts'

const { signal } = new AbortController()

const policy = `
apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- level: Metadata
  namespaces: [default]
  resources: [{ group: "", resources: [secrets, configmaps, pods] }]
`
const encryption = `
apiVersion: apiserver.config.k8s.io/v1
kind: EncryptionConfiguration
resources:
- resources: [secrets]
  providers:
  - aesgcm: { keys: [{ name: key1, secret: ${new Uint8Array(32).fill(7).toBase64()} }] }
  - identity: {}
`
const hidden = Buffer.from('a secret of this test').toString('base64')

interface Line {
  readonly verb: string
  readonly stage: string
  readonly user?: { readonly username?: string }
  readonly responseStatus: { readonly code: number }
}

test('each rejected request has its status and audit lines, and no file contains a secret', async () => {
  const folder = await newFolder()
  const file = (name: string) => join(folder, name)
  await writeFile(file('policy.yaml'), policy)
  await writeFile(file('encryption.yaml'), encryption)
  await using running = await up({
    dataDirectory: file('data'),
    kubeconfigPath: file('kubeconfig'),
    store: { kind: 'sqlite' },
    host: '127.0.0.1',
    port: 0,
    nodes: 0,
    policyFlags: {
      'audit-policy-file': file('policy.yaml'),
      'audit-log-path': file('audit.log'),
      'encryption-provider-config': file('encryption.yaml'),
    },
    log: silentLog,
  })
  const { authority, identity } = parseKubeconfig(await readFile(file('kubeconfig'), 'utf8'))
  const call = async (isAdmin: boolean, method: string, target: string, body: string, headers = {}) => {
    const outbound = nodePlatform.outbound.connect({
      origin: running.url,
      tls: { authority, ...(isAdmin ? identity : {}) },
    })
    try {
      const request = { method, target, headers: { 'content-type': 'application/json', ...headers }, body }
      const answer = await outbound.send(request, signal)
      for await (const _ of answer.body);
      return answer.status
    } finally {
      await outbound.close()
    }
  }
  const secrets = '/api/v1/namespaces/default/secrets'
  const secret = (name: string) => JSON.stringify({ metadata: { name }, data: { word: hidden } })
  const noAccount = JSON.stringify({
    metadata: { name: 'a' },
    spec: { serviceAccountName: 'absent', containers: [{ name: 'a', image: 'a' }] },
  })
  const steps: [number, string, Parameters<typeof call>][] = [
    [201, 'created', [true, 'POST', secrets, secret('a')]],
    [401, 'unknown token', [false, 'POST', secrets, secret('b'), { authorization: 'Bearer made-up-token' }]],
    [403, 'no right', [false, 'POST', secrets, secret('b')]],
    [400, 'no JSON', [true, 'POST', secrets, '{"metadata":']],
    [422, 'no name', [true, 'POST', secrets, secret('Not A Name')]],
    [409, 'there already', [true, 'POST', secrets, secret('a')]],
    [403, 'denied by admission', [true, 'POST', '/api/v1/namespaces/default/pods', noAccount]],
  ]
  for (const [status, name, step] of steps) equal(await call(...step), status, name)

  const text = await readFile(file('audit.log'), 'utf8')
  // Responses wait for their audit lines; the last line may belong to another request and be incomplete.
  const lines = text
    .slice(0, text.lastIndexOf('\n'))
    .split('\n')
    .map((line) => JSON.parse(line) as Line)
    // The cluster's own components are audited too.
    .filter(({ verb, user }) => verb === 'create' && !user?.username?.startsWith('system:serviceaccount:'))
  deepEqual(
    lines.map(({ stage, responseStatus }) => [stage, responseStatus.code]),
    steps.map(([status]) => [status === 401 ? 'ResponseStarted' : 'ResponseComplete', status]),
  )
  equal((await stat(file('audit.log'))).mode & 0o777, 0o600)
  ok(!text.includes(hidden) && !text.includes('made-up-token'))
  const inData = await readdir(file('data'), { recursive: true, withFileTypes: true })
  for (const entry of inData)
    if (entry.isFile()) ok(!(await readFile(join(entry.parentPath, entry.name))).includes(hidden), entry.name)
  // The store checkpoints its log into the file when it is idle.
  const stored = await Promise.all(['data/store.db', 'data/store.db-wal'].map((name) => readFile(file(name))))
  ok(stored.some((bytes) => bytes.includes('k8s:enc:aesgcm:v1:key1:')))
})
