// A program in a network namespace of its own: it makes attempts that the test requests as lines on its input, and serves
// the ports that its arguments name.
import { createInterface } from 'node:readline'
import { attempt, respond, type Attempt } from './attempt.ts'

const [name = '', ...ports] = process.argv.slice(2)
for (const port of ports) await respond(name, Number(port))
process.stdout.write('ready\n')

for await (const line of createInterface({ input: process.stdin })) {
  const { id, what } = JSON.parse(line) as { id: number; what: Attempt }
  void attempt(what).then((outcome) => process.stdout.write(`${JSON.stringify({ id, outcome })}\n`))
}
