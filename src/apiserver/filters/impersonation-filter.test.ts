// Who may impersonate whom, compared with kube-apiserver's responses in `test/facts/impersonation.json`.
import { deepEqual, ok } from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { createMatrixObjects, grantMatrixRules, matrixAccount } from '../authorization/access-matrix.harness.ts'
import { startGuarded } from '../server-policies.harness.ts'
import { impersonationResult, type ImpersonationFacts, type ImpersonationRow } from './impersonation.harness.ts'

const { objects, rows } = JSON.parse(
  readFileSync(new URL('../../../test/facts/impersonation.json', import.meta.url), 'utf8'),
) as ImpersonationFacts

test('impersonation requires the same permissions and results in the same user as upstream', async () => {
  await using server = await startGuarded()
  await createMatrixObjects(server, objects)
  const account = `/api/v1/namespaces/${matrixAccount.namespace}/serviceaccounts/${matrixAccount.name}`
  const identity = async (boundObjectRef?: object) => {
    const { body } = await server.call('POST', `${account}/token`, { spec: { boundObjectRef } })
    return { anonymous: '', authorization: `Bearer ${body.status.token}` }
  }
  const plain = await identity()
  const onNode = await identity({ kind: 'Node', apiVersion: 'v1', name: 'n' })

  const differences: object[] = []
  let granted = ''
  for (const row of rows) {
    const { method, path, headers, body: sent, isOnNode, rules } = row
    if (granted !== (granted = JSON.stringify(rules))) await grantMatrixRules(server, rules)
    const { status, body } = await server.call(method, path, sent, { ...headers, ...(isOnNode ? onNode : plain) })
    const found = impersonationResult(status, typeof body === 'object' ? body : {})
    const recorded = recordedResult(row)
    if (JSON.stringify(recorded) !== JSON.stringify(found)) differences.push({ headers, path, rules, recorded, found })
  }
  ok(rows.length > 600, `${rows.length} requests`)
  deepEqual(differences, [])
})

const recordedResult = ({ status, message, user }: ImpersonationRow) => ({
  status,
  ...(message === undefined ? {} : { message }),
  ...(user === undefined ? {} : { user }),
})
