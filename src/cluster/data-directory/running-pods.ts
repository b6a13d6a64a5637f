// runningPods: the pods whose containers run on this machine although nothing watches over them, as after a stop.
import { readdir, readFile } from 'node:fs/promises'
import { basename } from 'node:path'

/** Counts the processes that the runtime of this data directory starts, one for each pod. containerd itself need not run. */
export async function runningPods(dataDirectory: string): Promise<number> {
  const socket = `${dataDirectory}/node/containerd/containerd.sock`
  const pids = (await readdir('/proc').catch(() => [])).filter((name) => /^\d+$/.test(name))
  const commands = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')))
  return commands.filter((command) => isShim(command.split('\0'), socket)).length
}

const isShim = ([program = '', ...args]: readonly string[], socket: string): boolean =>
  basename(program).startsWith('containerd-shim') && args[args.indexOf('-address') + 1] === socket
