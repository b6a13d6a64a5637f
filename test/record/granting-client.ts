// A client of a kube-apiserver for recordings about permissions: sends requests as an administrator or with a token, and grants
// the ServiceAccounts of one namespace exactly the rules of a row.
import { readFileSync } from 'node:fs'
import { request as httpsRequest } from 'node:https'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  matrixAccount,
  matrixRole,
  type MatrixAnswer,
  type MatrixRequest,
} from '../../src/apiserver/authorization/access-matrix.harness.ts'

export type RecordedAnswer = MatrixAnswer & { readonly text: string }

export interface GrantingClient {
  /** With a token, a successful response is not read, because a watch has no end; `isRead` overrides that. */
  send(request: MatrixRequest, token?: string, isRead?: boolean): Promise<RecordedAnswer>
  /** Sends a request as the administrator and throws if it fails, except if the object exists. */
  must(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<string>
  /** Grants the accounts these rules and nothing else, and waits until the authorizer has observed them. */
  grant(rules: readonly object[]): Promise<void>
  /** A token of this account. */
  tokenOf(name: string, request: object): Promise<string>
}

interface Refusal {
  message?: string
  details?: { name?: string }
}

const rbac = '/apis/rbac.authorization.k8s.io/v1'
const applyHeaders = { 'content-type': 'application/apply-patch+yaml' }

/** The arguments of a recorder: the address of the server, the certificate of its CA, and the administrator's certificate and key. */
export function grantingClient([address = '', ...files]: readonly string[]): GrantingClient {
  const { hostname, port } = new URL(address)
  const [authority, certificate, key] = files.map((file) => readFileSync(file, 'utf8'))

  const send: GrantingClient['send'] = ({ method, path, headers = {}, body }, token, isRead = token === undefined) =>
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
        if (status < 300 && !isRead) {
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

  const must: GrantingClient['must'] = async (method, path, body, headers) => {
    const { status, text } = await send({ method, path, body, ...(headers === undefined ? {} : { headers }) })
    if (status >= 300 && status !== 409) throw new Error(`${method} ${path}: ${status} ${text}`)
    return text
  }

  const { namespace } = matrixAccount
  const tokenOf = async (name: string, request: object): Promise<string> => {
    const text = await must('POST', `/api/v1/namespaces/${namespace}/serviceaccounts/${name}/token`, request)
    return (JSON.parse(text) as { status: { token: string } }).status.token
  }

  const accounts = `system:serviceaccounts:${namespace}`
  // The authorizer observes a grant through a watch: a permission that only this grant contains shows when it has.
  let grants = 0
  async function grant(rules: readonly object[]): Promise<void> {
    if (grants === 0)
      await must('POST', `${rbac}/clusterrolebindings`, {
        metadata: { name: matrixRole },
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: matrixRole },
        subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'Group', name: accounts }],
      })
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
        groups: [accounts],
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

  return { send, must, grant, tokenOf }
}
