// ownAddress: of loopback's addresses the one that this process has to itself. Whoever starts something again on its old port
// finds the port free: nobody else listens or connects there.
export const ownAddress = `127.${64 + ((process.pid >> 16) & 63)}.${(process.pid >> 8) & 255}.${process.pid & 255}`
