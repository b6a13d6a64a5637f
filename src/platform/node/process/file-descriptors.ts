// Detects that the process is out of file descriptors. libuv hides this: it reserves a descriptor with which it accepts
// and closes waiting connections, without an error.
import { close, open } from 'node:fs'
import { devNull } from 'node:os'

/** Calls back when the process or the machine has no free file descriptor. */
export function probeFileDescriptors(onExhausted: () => void): void {
  open(devNull, (error, descriptor) => {
    if (error === null) close(descriptor)
    else if (error.code === 'EMFILE' || error.code === 'ENFILE') onExhausted()
  })
}
