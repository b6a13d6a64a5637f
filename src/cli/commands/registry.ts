// coxswain registry: serves images that are pushed on this machine, until it is interrupted.
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { onAbort } from '../../base/async/on-abort.ts'
import { errorText } from '../../base/observability/log.ts'
import { realClock } from '../../base/time/clock.ts'
import { defineCommand, UsageError, type Terminal } from '../command/command.ts'
import { portOption } from '../options/component-options.ts'
import { clusterNameOptions, dataDirectoryOf } from '../options/data-directory-option.ts'

/** That of kind's guide to local registries. */
const portDefault = '5001'
const gigabytesDefault = '50'
const bytesPerGigabyte = 1e9
const publishAgainMs = 5_000
const publishMsMax = 10_000

export const registry = defineCommand({
  name: 'registry',
  summary: 'serves a registry on localhost, to which images are pushed and from which nodes of this machine pull',
  operands: '',
  options: {
    ...clusterNameOptions,
    port: { type: 'string', value: '<port>', help: `the port on localhost; 0 for any free one (${portDefault})` },
    folder: { type: 'string', value: '<folder>', help: 'where images are stored (registry in the data directory)' },
    'max-gigabytes': { type: 'string', value: '<n>', help: `how much it stores at most (${gigabytesDefault})` },
  },
  async run({ options }, terminal) {
    const { out, environment, signal } = terminal
    const directory = dataDirectoryOf(options, environment)
    const port = portOption('port', options.port ?? portDefault)
    const gigabytes = Number(options['max-gigabytes'] ?? gigabytesDefault)
    if (!(gigabytes > 0 && Number.isFinite(gigabytes)))
      throw new UsageError(`--max-gigabytes ${JSON.stringify(options['max-gigabytes'])} is not a number above 0`)
    const folder = resolve(options.folder ?? join(directory, 'registry'))
    const { openRegistry } = await import('../../cluster/registry/open-registry.ts')
    await using opened = await openRegistry({ folder, port, bytesMax: gigabytes * bytesPerGigabyte })
    const { host } = opened
    out(`ready at http://${host}, until Ctrl-C. Images are in ${folder}.\n\n`)
    out(`  docker tag app:1 ${host}/app:1 && docker push ${host}/app:1\n`)
    out(`  kubectl create deployment app --image=${host}/app:1\n`)
    await publish(join(directory, 'admin.kubeconfig'), host, terminal).catch((error: unknown) => {
      if (!signal.aborted) throw error
    })
    if (!signal.aborted) await new Promise<void>((done) => onAbort(signal, done))
    return 0
  },
})

/** Waits for the cluster of the data directory, which may be started later. */
async function publish(kubeconfig: string, host: string, { out, err, signal }: Terminal): Promise<void> {
  const [{ connect }, { publishRegistry }] = await Promise.all([
    import('../../cluster/client/connect.ts'),
    import('../../cluster/registry/publish-registry.ts'),
  ])
  let reported = ''
  for (;;) {
    if (existsSync(kubeconfig))
      try {
        await using connection = await connect(await readFile(kubeconfig, 'utf8'), { name: 'registry', signal })
        await publishWithin(publishMsMax, (limit) => publishRegistry(connection.client, host, limit), signal)
        return out('\nIts address is in the ConfigMap kube-public/local-registry-hosting of the cluster.\n')
      } catch (error) {
        signal.throwIfAborted()
        const text = errorText(error)
        if (text !== reported) err(`the cluster does not know of the registry yet, trying again: ${text}\n`)
        reported = text
      }
    await realClock.sleep(publishAgainMs, signal)
  }
}

async function publishWithin(
  msMax: number,
  publishOnce: (limit: AbortSignal) => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  const late = new AbortController()
  const timer = realClock.after(msMax, () => late.abort(new Error(`no answer within ${msMax / 1_000} s`)))
  try {
    await publishOnce(AbortSignal.any([signal, late.signal]))
  } finally {
    timer.cancel()
  }
}
