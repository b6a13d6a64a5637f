// @ts-check
// Runs the operator against the cluster of a kubeconfig, until Ctrl-C:
//   node main.cjs [kubeconfig]
// In a pod it uses the ServiceAccount of the pod. A record of the DNS is a line of the output here.
const { connect, customResourceDefinition } = require('coxswain')
const { runOperator } = require('./operator.cjs')
const { website } = require('./website.cjs')

const dns = {
  /** @param {string} host @param {string} target */
  set: async (host, target) => console.log(`${host} -> ${target}`),
  /** @param {string} host */
  remove: async (host) => console.log(`${host} is removed`),
}

async function main() {
  const ending = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => ending.abort())
  await using connection = await connect(process.argv[2], { name: 'website-operator' })
  const { client, clock, url } = connection
  await client.of(customResourceDefinition).apply(website.definition, { fieldManager: 'website-operator', force: true })
  console.log(`watches the websites of ${url}`)
  await runOperator({ client, dns, clock, now: () => clock.nowMs() }, ending.signal)
}

main().catch((error) => {
  console.error(String(error))
  process.exitCode = 1
})
