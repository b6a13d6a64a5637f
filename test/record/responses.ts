// Records what a server answers to the requests of a table:
//   node test/record/responses.ts https://127.0.0.1:6443 client.crt client.key > test/facts/prototype-names.json
import { readFileSync } from 'node:fs'
import { Agent, request } from 'node:https'
import {
  prototypeNames,
  requestsWith,
  shownOf,
  type RecordedRequest,
} from '../../src/apiserver/robustness/prototype-names.harness.ts'

const [address = '', certificate = '', key = ''] = process.argv.slice(2)
const agent = new Agent({ cert: readFileSync(certificate), key: readFileSync(key), rejectUnauthorized: false })

const ask = ({ method, path, body, headers }: RecordedRequest): Promise<[code: number, text: string]> =>
  new Promise((resolve, reject) => {
    const sent = body === undefined ? {} : { 'content-type': 'application/json' }
    const asked = request(`${address}${path}`, { method, agent, headers: { ...sent, ...headers } }, (answer) => {
      let text = ''
      answer.on('data', (piece) => (text += String(piece)))
      answer.on('end', () => resolve([answer.statusCode ?? 0, text]))
    })
    asked.on('error', reject)
    asked.end(body)
  })

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

// Pods need an account; no controller creates it here.
await ask({
  method: 'POST',
  path: '/api/v1/namespaces/default/serviceaccounts',
  body: '{"metadata":{"name":"default"}}',
})

const lines: string[] = []
for (const [index, name] of prototypeNames.entries())
  for (const asked of requestsWith(name, index)) {
    const [code, text] = await ask(asked)
    lines.push(
      JSON.stringify([`${asked.method} ${asked.path}`, code, shownOf(asked, code, parsed(text) ?? {}) ?? null]),
    )
  }
process.stdout.write(`[\n  ${lines.join(',\n  ')}\n]\n`)
agent.destroy()
