// ownAddress: a loopback address that only this process uses. A server that is restarted finds its old port free,
// because no other process listens or connects there.
export const ownAddress = `127.${64 + ((process.pid >> 16) & 63)}.${(process.pid >> 8) & 255}.${process.pid & 255}`
