// Programs of the host that only record what they are asked to do.
import type { InteractivePrograms, Processes } from '../../src/platform/process/processes.ts'

export interface RecordedPrograms {
  readonly processes: Processes & InteractivePrograms
  /** The program and its arguments. */
  readonly commands: readonly (readonly string[])[]
  /** What programs read. */
  readonly inputs: readonly { readonly program: string; readonly text: string }[]
}

/** What nft prints at the end of each command that it reads. */
const nftEnd = 'payload expression, datatype ipv4_addr (IPv4 address), 32 bits'

export function recordedPrograms(): RecordedPrograms {
  const commands: (readonly string[])[] = []
  const inputs: { program: string; text: string }[] = []
  const running = () => {
    const ended = Promise.withResolvers<number>()
    return { pid: 1, ended: ended.promise, kill: () => ended.resolve(0) }
  }
  const processes: RecordedPrograms['processes'] = {
    run(program, args, { input }) {
      commands.push([program, ...args])
      if (input !== undefined) inputs.push({ program, text: String(input) })
      // Programs that print JSON print an empty list.
      return Promise.resolve({ code: 0, stdout: args.includes('-j') ? '[]' : '', stderr: '' })
    },
    start(program, args) {
      commands.push([program, ...args])
      return running()
    },
    startInteractive(program, args, _options, onLine) {
      commands.push([program, ...args])
      const write = (text: string) => {
        inputs.push({ program, text })
        onLine(nftEnd)
      }
      return { ...running(), write }
    },
  }
  return { processes, commands, inputs }
}
