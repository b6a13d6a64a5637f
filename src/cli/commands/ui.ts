// coxswain ui: serves the web UI of a cluster on http://localhost, for the user of the kubeconfig, until it is interrupted.
import { createInterface } from 'node:readline'
import { onAbort } from '../../base/async/on-abort.ts'
import { fetchCoxswainPath } from '../../cluster/client/coxswain-path.ts'
import { openLocalUi } from '../../cluster/ui/local-ui.ts'
import { defineCommand, UsageError, type Terminal } from '../command/command.ts'
import { chooseCluster, clusterOptions, withReachabilityHint } from '../options/choose-cluster.ts'
import { portOption } from '../options/component-options.ts'
import { browserCommand, openBrowser } from '../output/open-browser.ts'

const { namespace: _, ...options } = clusterOptions

export const ui = defineCommand({
  name: 'ui',
  summary: 'serves the web UI on http://localhost: live flows, objects and their history',
  operands: '',
  options: {
    ...options,
    open: { type: 'boolean', help: 'open it in the browser' },
    port: { type: 'string', value: '<port>', help: 'the port on localhost (any free one)' },
    print: {
      type: 'boolean',
      help: 'serve nothing: print a link to the page of the API server; it works once, within a minute',
    },
  },
  async run({ options: { print = false, open = false, port = '0', ...chosen } }, terminal) {
    const { out, environment, signal } = terminal
    if (print && (open || port !== '0'))
      throw new UsageError('--print serves nothing, so --open and --port have no effect')
    const ownPort = portOption('port', port)
    const cluster = await chooseCluster(chosen, environment)
    return withReachabilityHint(cluster, async () => {
      if (print) {
        out(`${await linkOfServer(cluster, signal)}\n`)
        return 0
      }
      await using page = await openLocalUi(cluster.kubeconfig, ownPort, signal)
      const command = open ? browserCommand(process.platform, environment) : undefined
      if (command !== undefined && (await openBrowser(command, page.link())))
        out(`The web UI of ${cluster.server} is open in your browser, until Ctrl-C.\n`)
      else
        out(
          `The web UI of ${cluster.server}, until Ctrl-C. The link works once, within a minute:\n\n  ${page.link()}\n`,
        )
      if (page.isUpstream) out(withoutFlows)
      await printLinks(() => page.link(), terminal)
      return 0
    })
  },
})

const withoutFlows =
  '\nIts API server has no web UI, so there are no flows, no history and no past: it is not Coxswain, or it runs on another machine.\n'

/** Prints another link whenever Enter is pressed, until the command is interrupted. */
async function printLinks(link: () => string, { out, isTerminal, signal }: Terminal): Promise<void> {
  const lines = isTerminal && process.stdin.isTTY ? createInterface({ input: process.stdin }) : undefined
  if (lines !== undefined) out('\nPress Enter for another one.\n')
  lines?.on('line', () => out(`  ${link()}\n`))
  if (!signal.aborted) await new Promise<void>((resolve) => onAbort(signal, resolve))
  lines?.close()
}

interface Cluster {
  readonly server: string
  readonly kubeconfig: string
}

const missing = ({ server }: Cluster): string =>
  `${server} has no web UI: it is not Coxswain, or it runs on another machine`

async function linkOfServer(cluster: Cluster, signal: AbortSignal): Promise<string> {
  const login = (await fetchCoxswainPath(cluster.kubeconfig, '/ui/login', signal, 'POST')) as Login | undefined
  if (login === undefined) throw new UsageError(missing(cluster))
  return loginLink(cluster.server, login)
}

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
