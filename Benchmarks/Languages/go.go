// The default HTTP client of Go with a number of requests in flight. Build: go build -o go-client go.go
// Usage: go-client URL IN-FLIGHT SECONDS [CA [1.1|2]]. Prints the requests and the seconds, or without a CA, for which it does
// not decode the bodies, the requests per second.
package main

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

type user struct {
	ID        int      `json:"id"`
	Name      string   `json:"name"`
	Email     string   `json:"email"`
	IsActive  bool     `json:"isActive"`
	Score     float64  `json:"score"`
	Biography string   `json:"biography"`
	Tags      []string `json:"tags"`
	Address   struct {
		Street    string  `json:"street"`
		City      string  `json:"city"`
		Latitude  float64 `json:"latitude"`
		Longitude float64 `json:"longitude"`
	} `json:"address"`
	Followers []int `json:"followers"`
}

type wrapped struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
	Data    user   `json:"data"`
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func main() {
	url := os.Args[1]
	inFlight, _ := strconv.Atoi(os.Args[2])
	seconds, _ := strconv.ParseFloat(os.Args[3], 64)
	decodes := len(os.Args) > 4
	client := http.DefaultClient
	if decodes {
		pem, err := os.ReadFile(os.Args[4])
		check(err)
		pool := x509.NewCertPool()
		pool.AppendCertsFromPEM(pem)
		transport := &http.Transport{
			TLSClientConfig: &tls.Config{RootCAs: pool}, MaxIdleConns: 256, MaxIdleConnsPerHost: 256,
			ForceAttemptHTTP2: len(os.Args) > 5 && os.Args[5] == "2",
		}
		client = &http.Client{Transport: transport}
	}
	var count atomic.Int64
	var group sync.WaitGroup
	start := time.Now()
	end := start.Add(time.Duration(seconds * 1e9))
	for i := 0; i < inFlight; i++ {
		group.Add(1)
		go func() {
			defer group.Done()
			for time.Now().Before(end) {
				response, err := client.Get(url)
				check(err)
				if decodes {
					var found wrapped
					check(json.NewDecoder(response.Body).Decode(&found))
					if found.Code != 200 {
						check(fmt.Errorf("code %d", found.Code))
					}
				}
				io.Copy(io.Discard, response.Body)
				response.Body.Close()
				count.Add(1)
			}
		}()
	}
	group.Wait()
	if decodes {
		fmt.Println(count.Load(), time.Since(start).Seconds())
	} else {
		fmt.Println(float64(count.Load()) / time.Since(start).Seconds())
	}
}
