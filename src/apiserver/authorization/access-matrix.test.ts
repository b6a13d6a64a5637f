// The permissions that every form of a request needs, compared with kube-apiserver's in `test/facts/access-matrix.json`.
import { deepEqual, ok } from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { startGuarded, type GuardedHarness } from '../server-policies.harness.ts'
import {
  createMatrixObjects,
  grantMatrixRules,
  matrixAccount,
  rowOf,
  type Matrix,
  type MatrixRequest,
  type MatrixRow,
  type MatrixServer,
} from './access-matrix.harness.ts'

const { objects, rows } = JSON.parse(
  readFileSync(new URL('../../../test/facts/access-matrix.json', import.meta.url), 'utf8'),
) as Matrix

async function matrixServer(server: GuardedHarness): Promise<MatrixServer> {
  await createMatrixObjects(server, objects)
  const account = `/api/v1/namespaces/${matrixAccount.namespace}/serviceaccounts/${matrixAccount.name}`
  const { body } = await server.call('POST', `${account}/token`, {})
  const identity = { anonymous: '', authorization: `Bearer ${body.status.token}` }
  return {
    grant: (rules) => grantMatrixRules(server, rules),
    async send({ method, path, headers = {}, body: sent }: MatrixRequest) {
      const { status, body: answer } = await server.head(method, path, sent, { ...headers, ...identity })
      const isSilent = method === 'HEAD' || typeof answer !== 'object'
      return isSilent
        ? { status, message: '', name: '' }
        : { status, message: answer.message ?? '', name: answer.details?.name ?? '' }
    },
  }
}

const written = ({ method, path, headers, asked, status }: MatrixRow): string =>
  `${method} ${path} ${headers?.['upgrade'] ?? headers?.['content-type'] ?? ''} → ${asked.join(' + ')} → ${status}`

test('every form of a request is authorized with the same attributes as upstream', async () => {
  await using server = await startGuarded()
  const ours = await matrixServer(server)
  const differences: [recorded: string, found: string][] = []
  for (const row of rows) {
    const { asked: _asked, status: _status, ...request } = row
    const recorded = written(row)
    const found = written(await rowOf(request, ours))
    if (recorded !== found) differences.push([recorded, found])
  }
  ok(rows.length > 400, `${rows.length} requests`)
  deepEqual(differences, [])
})
