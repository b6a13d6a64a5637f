// Whether the process can open files and connections. libuv hides the answer: when no file descriptor is free it accepts
// waiting connections with one that it keeps for that purpose, and closes them, without an error.
import { close, open } from 'node:fs'
import { devNull } from 'node:os'

/** Calls back when no file descriptor is free, in the process or on the machine. */
export function probeFileDescriptors(onExhausted: () => void): void {
  open(devNull, (error, descriptor) => {
    if (error === null) close(descriptor)
    else if (error.code === 'EMFILE' || error.code === 'ENFILE') onExhausted()
  })
}
