// Records `test/facts/access-matrix.json` from a running kube-apiserver:
//   node test/record/access-matrix.ts https://host:port ca.crt admin.crt admin.key > test/facts/access-matrix.json
import { readFileSync } from 'node:fs'
import { request as httpsRequest } from 'node:https'
import { networkInterfaces } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  matrixAccount,
  matrixRole,
  matrixUser,
  rowOf,
  type MatrixAnswer,
  type MatrixRequest,
  type MatrixRow,
} from '../../src/apiserver/authorization/access-matrix.harness.ts'
import { matrixObjects, matrixRequests } from './access-matrix-requests.ts'

const [address = '', ...files] = process.argv.slice(2)
const { hostname, port } = new URL(address)
const [authority, certificate, key] = files.map((file) => readFileSync(file, 'utf8'))

/** Returns with the response head, because a watch has no end. */
const send = (
  { method, path, headers = {}, body }: MatrixRequest,
  token?: string,
): Promise<MatrixAnswer & { text: string }> =>
  new Promise((resolve, reject) => {
    const identity = token === undefined ? { cert: certificate, key } : {}
    const request = httpsRequest({
      hostname,
      port,
      method,
      path,
      ca: authority,
      agent: false,
      ...identity,
      headers: {
        'content-type': 'application/json',
        ...headers,
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      },
    })
    request.on('upgrade', (answer, socket) => {
      socket.destroy()
      resolve({ status: answer.statusCode ?? 0, message: '', name: '', text: '' })
    })
    request.on('response', (answer) => {
      const status = answer.statusCode ?? 0
      if (status < 300 && token !== undefined) {
        request.destroy()
        return resolve({ status, message: '', name: '', text: '' })
      }
      let text = ''
      answer.on('data', (piece: Buffer) => (text += piece.toString()))
      answer.on('end', () => {
        const isJson = text.startsWith('{')
        const { message = '', details } = (isJson ? JSON.parse(text) : {}) as Refusal
        resolve({ status, message, name: details?.name ?? '', text })
      })
    })
    request.on('error', reject)
    request.end(body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body))
  })

interface Refusal {
  message?: string
  details?: { name?: string }
}

async function must(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<string> {
  const { status, text } = await send({ method, path, body, ...(headers === undefined ? {} : { headers }) })
  if (status >= 300 && status !== 409) throw new Error(`${method} ${path}: ${status} ${text}`)
  return text
}

const applyHeaders = { 'content-type': 'application/apply-patch+yaml' }
const rbac = '/apis/rbac.authorization.k8s.io/v1'

/** The authorizer observes a grant through a watch: a permission that only this grant contains shows when it has. */
let grants = 0
async function grant(rules: readonly object[]): Promise<void> {
  const marker = {
    verbs: ['get'],
    apiGroups: ['matrix.example'],
    resources: ['grants'],
    resourceNames: [`g${++grants}`],
  }
  const object = {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    metadata: { name: matrixRole },
    rules: [...rules, marker],
  }
  await must('PATCH', `${rbac}/clusterroles/${matrixRole}?fieldManager=matrix&force=true`, object, applyHeaders)
  const review = {
    spec: {
      user: matrixUser,
      resourceAttributes: { verb: 'get', group: 'matrix.example', resource: 'grants', name: `g${grants}` },
    },
  }
  for (let tries = 0; tries < 500; tries++) {
    const text = await must('POST', '/apis/authorization.k8s.io/v1/subjectaccessreviews', review)
    if ((JSON.parse(text) as { status: { allowed: boolean } }).status.allowed) return
    await sleep(2)
  }
  throw new Error('the authorizer did not learn of a grant')
}

for (const [path, object] of matrixObjects) await must('POST', path, object)
// No server listens at the node's port: an address of this machine refuses connections at once, others may not.
const own = Object.values(networkInterfaces())
  .flat()
  .find((each) => each?.family === 'IPv4' && !each.internal)
const status = {
  addresses: [{ type: 'InternalIP', address: own?.address }],
  daemonEndpoints: { kubeletEndpoint: { Port: 1 } },
}
await must('PATCH', '/api/v1/nodes/n/status', { status }, { 'content-type': 'application/merge-patch+json' })
await must('POST', `${rbac}/clusterrolebindings`, {
  metadata: { name: matrixRole },
  roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: matrixRole },
  subjects: [{ kind: 'ServiceAccount', ...matrixAccount }],
})
const account = `/api/v1/namespaces/${matrixAccount.namespace}/serviceaccounts/${matrixAccount.name}`
const { token } = (JSON.parse(await must('POST', `${account}/token`, {})) as { status: { token: string } }).status

const rows: MatrixRow[] = []
for (const request of matrixRequests) rows.push(await rowOf(request, { grant, send: (each) => send(each, token) }))

const lines = (values: readonly unknown[]): string => values.map((value) => `    ${JSON.stringify(value)}`).join(',\n')
process.stdout.write(`{\n  "objects": [\n${lines(matrixObjects)}\n  ],\n  "rows": [\n${lines(rows)}\n  ]\n}\n`)
