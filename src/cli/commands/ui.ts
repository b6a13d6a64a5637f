// coxswain ui: opens the web UI of a cluster, logged in as the user of the kubeconfig.
import { fetchCoxswainPath } from '../../cluster/client/coxswain-path.ts'
import { defineCommand, UsageError } from '../command/command.ts'
import { chooseCluster, clusterOptions, withReachabilityHint } from '../options/choose-cluster.ts'
import { browserCommand, openBrowser } from '../output/open-browser.ts'

const { namespace: _, ...options } = clusterOptions

export const ui = defineCommand({
  name: 'ui',
  summary: 'opens the web UI: live flows, objects and their history',
  operands: '',
  options: { ...options, print: { type: 'boolean', help: 'print the link only; it works once, within a minute' } },
  async run({ options: { print = false, ...chosen } }, { out, environment, signal }) {
    const cluster = await chooseCluster(chosen, environment)
    return withReachabilityHint(cluster, async () => {
      const login = (await fetchCoxswainPath(cluster.kubeconfig, '/ui/login', signal, 'POST')) as Login | undefined
      if (login === undefined)
        throw new UsageError(`${cluster.server} has no web UI: it is not Coxswain, or it runs on another machine`)
      const link = loginLink(cluster.server, login)
      const command = print ? undefined : browserCommand(process.platform, environment)
      if (command !== undefined && (await openBrowser(command, link))) {
        out(`the web UI of ${cluster.server} is open in your browser\n`)
        return 0
      }
      out(print ? `${link}\n` : `Open this link within a minute; it works once:\n\n  ${link}\n`)
      return 0
    })
  },
})

interface Login {
  readonly code: string
  /** The port of the web UI, if it has one of its own. */
  readonly port?: number
}

/** The code is in the fragment, which browsers do not send, so no log contains it. */
export function loginLink(server: string, { code, port }: Login): string {
  const link = new URL('/ui/login', server)
  if (port !== undefined) link.port = String(port)
  link.hash = code
  return link.href
}
