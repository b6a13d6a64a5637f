// Records `test/facts/impersonation.json` from a running kube-apiserver:
//   node test/record/impersonation.ts https://host:port ca.crt admin.crt admin.key > test/facts/impersonation.json
import { matrixAccount } from '../../src/apiserver/authorization/access-matrix.harness.ts'
import { impersonationResult, type ImpersonationRow } from '../../src/apiserver/filters/impersonation.harness.ts'
import { grantingClient } from './granting-client.ts'
import { impersonationCases, impersonationObjects } from './impersonation-cases.ts'

const { send, must, grant, tokenOf } = grantingClient(process.argv.slice(2))

for (const [path, object] of impersonationObjects) await must('POST', path, object)
// The server remembers for some seconds who impersonated whom in which mode. Each case has its own sender.
const onNode = { spec: { boundObjectRef: { kind: 'Node', apiVersion: 'v1', name: 'n' } } }
const accounts = `/api/v1/namespaces/${matrixAccount.namespace}/serviceaccounts`

const rows: ImpersonationRow[] = []
for (const each of impersonationCases) {
  const sender = `sender-${rows.length}`
  await must('POST', accounts, { metadata: { name: sender } })
  await grant(each.rules)
  const { status, text } = await send(each, await tokenOf(sender, each.isOnNode ? onNode : {}), true)
  const body = text.startsWith('{') ? JSON.parse(text.replaceAll(`:${sender}\\"`, `:${matrixAccount.name}\\"`)) : {}
  rows.push({ ...each, ...impersonationResult(status, body) })
}

const lines = (values: readonly unknown[]): string => values.map((value) => `    ${JSON.stringify(value)}`).join(',\n')
process.stdout.write(`{\n  "objects": [\n${lines(impersonationObjects)}\n  ],\n  "rows": [\n${lines(rows)}\n  ]\n}\n`)
