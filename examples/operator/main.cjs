// @ts-check
// Runs the operator against the cluster of a kubeconfig, until Ctrl-C:
//   node main.cjs [kubeconfig]
// In a pod it uses the ServiceAccount of the pod. A record of the DNS is a line of the output here.
const { connect, customResourceDefinition } = require('coxswain')
const { runOperator } = require('./operator.cjs')
const { website } = require('./website.cjs')

/** @param {string} line */
const print = (line) => void process.stdout.write(`${line}\n`)

const dns = {
  /** @param {string} host @param {string} target */
  set: async (host, target) => print(`${host} -> ${target}`),
  /** @param {string} host */
  remove: async (host) => print(`${host} is removed`),
}

async function main() {
  const ending = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => ending.abort())
  await using connection = await connect(process.argv[2], { name: 'website-operator' })
  const { client, clock, url } = connection
  await client.of(customResourceDefinition).apply(website.definition, { fieldManager: 'website-operator', force: true })
  print(`watches the websites of ${url}`)
  await runOperator({ client, dns, clock, now: () => clock.nowMs() }, ending.signal)
}

main().catch((error) => {
  process.stderr.write(`${String(error)}\n`)
  process.exitCode = 1
})
