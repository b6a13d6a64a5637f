// Records `test/facts/access-matrix.json` from a running kube-apiserver:
//   node test/record/access-matrix.ts https://host:port ca.crt admin.crt admin.key > test/facts/access-matrix.json
import { networkInterfaces } from 'node:os'
import { matrixAccount, rowOf, type MatrixRow } from '../../src/apiserver/authorization/access-matrix.harness.ts'
import { matrixObjects, matrixRequests } from './access-matrix-requests.ts'
import { grantingClient } from './granting-client.ts'

const { send, must, grant, tokenOf } = grantingClient(process.argv.slice(2))

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
const token = await tokenOf(matrixAccount.name, {})

const rows: MatrixRow[] = []
for (const request of matrixRequests) rows.push(await rowOf(request, { grant, send: (each) => send(each, token) }))

const lines = (values: readonly unknown[]): string => values.map((value) => `    ${JSON.stringify(value)}`).join(',\n')
process.stdout.write(`{\n  "objects": [\n${lines(matrixObjects)}\n  ],\n  "rows": [\n${lines(rows)}\n  ]\n}\n`)
