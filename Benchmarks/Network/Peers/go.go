// The default HTTP client of Go with a number of requests in flight. Build: go build -o go-client Peers/go.go
// Usage: go-client URL IN-FLIGHT SECONDS. Prints the requests per second.
package main

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

func main() {
	url := os.Args[1]
	inFlight, _ := strconv.Atoi(os.Args[2])
	seconds, _ := strconv.ParseFloat(os.Args[3], 64)
	var count atomic.Int64
	var group sync.WaitGroup
	start := time.Now()
	end := start.Add(time.Duration(seconds * 1e9))
	for i := 0; i < inFlight; i++ {
		group.Add(1)
		go func() {
			defer group.Done()
			for time.Now().Before(end) {
				response, err := http.Get(url)
				if err != nil {
					fmt.Fprintln(os.Stderr, err)
					os.Exit(1)
				}
				io.Copy(io.Discard, response.Body)
				response.Body.Close()
				count.Add(1)
			}
		}()
	}
	group.Wait()
	fmt.Println(float64(count.Load()) / time.Since(start).Seconds())
}
